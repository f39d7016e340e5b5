// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/hosts.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "nuice/core/error.hpp"

namespace nuice {
namespace {

[[noreturn]] void fail(std::string_view text, const std::string& reason) {
  throw Error(ErrorCode::invalid_argument, "hosts \"" + std::string(text) + "\": " + reason);
}

Rank parse_number(std::string_view word, std::string_view text) {
  Rank number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number < 0)
    fail(text, "\"" + std::string(word) + "\" is not a number of a host or of ranks");
  return number;
}

}  // namespace

Hosts::Hosts(std::vector<Rank> host_of) : host_of_(std::move(host_of)) {
  std::map<Rank, Rank> number;
  for (Rank rank = 0; rank < num_ranks(); ++rank) {
    Rank& host = host_of_[static_cast<std::size_t>(rank)];
    const auto [found, is_new] = number.try_emplace(host, num_hosts_);
    if (is_new) ++num_hosts_;
    host = found->second;
  }
}

std::vector<Rank> Hosts::ranks_beside(Rank rank) const {
  std::vector<Rank> ranks;
  for (Rank other = 0; other < num_ranks(); ++other)
    if (same(other, rank)) ranks.push_back(other);
  return ranks;
}

Hosts parse_hosts(std::string_view text, Rank num_ranks) {
  std::vector<Rank> host_of;
  if (text.find(',') == std::string_view::npos) {
    const Rank per_host = parse_number(text, text);
    if (per_host == 0) fail(text, "a host has one rank at least");
    for (Rank rank = 0; rank < num_ranks; ++rank) host_of.push_back(rank / per_host);
    return Hosts(std::move(host_of));
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    host_of.push_back(parse_number(text.substr(begin, end - begin), text));
    begin = end + 1;
  }
  if (std::cmp_not_equal(host_of.size(), num_ranks))
    fail(text, std::to_string(host_of.size()) + " hosts for " + std::to_string(num_ranks) + " ranks");
  return Hosts(std::move(host_of));
}

CommMatrix host_matrix(const CommMatrix& matrix, const Hosts& hosts) {
  std::map<std::pair<Rank, Rank>, Bytes> sums;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    const Message message = matrix.message(id);
    if (hosts.same(message.src, message.dst)) continue;
    sums[{hosts.host_of(message.src), hosts.host_of(message.dst)}] += message.bytes;
  }
  std::vector<Message> messages;
  for (const auto& [pair, bytes] : sums) messages.push_back({pair.first, pair.second, bytes});
  return CommMatrix::from_messages(hosts.num_hosts(), messages);
}

}  // namespace nuice
