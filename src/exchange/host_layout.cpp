// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/host_layout.hpp"

#include <algorithm>
#include <tuple>

#include "core/support/cache_line.hpp"
#include "core/support/round_up.hpp"

namespace nuice::exchange {
namespace {

/// Rounds up, so that every block begins on its own cache line.
Bytes rounded_up(Bytes bytes) { return round_up(bytes, static_cast<Bytes>(cache_line_bytes)); }

}  // namespace

HostLayout::HostLayout(const Hosts& hosts, Rank rank, std::vector<HostMessage> messages) {
  const Rank here = hosts.host_of(rank);
  // Returns the kind of a message (0: inside the host, 1: to another host, 2: from another host) and the
  // other host.
  const auto where = [&](const HostMessage& message) {
    const Rank from = hosts.host_of(message.src);
    const Rank to = hosts.host_of(message.dst);
    if (from == to) return std::pair(0, here);
    return from == here ? std::pair(1, to) : std::pair(2, from);
  };
  std::ranges::sort(messages, {}, [&](const HostMessage& message) {
    return std::tuple(where(message), message.src, message.dst);
  });
  for (std::size_t begin = 0; begin < messages.size();) {
    const auto [kind, host] = where(messages[begin]);
    std::size_t end = begin;
    while (end < messages.size() && where(messages[end]) == std::pair(kind, host)) ++end;
    const std::span group(messages.data() + begin, end - begin);
    if (kind != 0) (kind == 1 ? outgoing_ : incoming_).push_back({host, bytes_, 0, {}});
    if (kind != 2) place(hosts, rank, group, true);
    if (kind == 2) place(hosts, rank, group, false);
    begin = end;
  }
}

/// Places the messages contiguously from bytes_ on. A message inside the host has only one place, which both
/// ends use.
void HostLayout::place(const Hosts& hosts, Rank rank, std::span<const HostMessage> messages, bool is_out) {
  const bool is_local = hosts.same(messages.front().src, messages.front().dst);
  Block* const block = is_local ? nullptr : is_out ? &outgoing_.back() : &incoming_.back();
  const std::size_t index = is_local ? no_index : (is_out ? outgoing_.size() : incoming_.size()) - 1;
  Bytes at = bytes_;
  for (const auto& [src, dst, bytes] : messages) {
    if (block != nullptr) block->ranks.push_back(is_out ? src : dst);
    if (src == rank) sends_.push_back({dst, at, bytes, index});
    if (dst == rank) receives_.push_back({src, at, bytes, index});
    at += bytes;
  }
  if (block != nullptr) {
    block->bytes = at - bytes_;
    std::ranges::sort(block->ranks);
    const auto repeated = std::ranges::unique(block->ranks);
    block->ranks.erase(repeated.begin(), repeated.end());
  }
  bytes_ = rounded_up(at);
}

}  // namespace nuice::exchange
