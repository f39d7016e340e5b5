// SPDX-License-Identifier: BSD-3-Clause
// Builds the compressed matrix: validates, sorts by (src, dst), splits off entries that need no port, and
// indexes by receiver.
#include "nuice/core/comm_matrix.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/support/most_ranks.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice {
namespace {

std::string pair_text(const Message& entry) {
  return "rank " + std::to_string(entry.src) + " -> rank " + std::to_string(entry.dst);
}

void check_entry(const Message& entry, Rank num_ranks) {
  const auto outside = [num_ranks](Rank rank) { return rank < 0 || rank >= num_ranks; };
  if (outside(entry.src) || outside(entry.dst)) {
    throw Error(ErrorCode::invalid_argument,
                pair_text(entry) + ": ranks go from 0 to " + std::to_string(num_ranks - 1));
  }
  if (entry.bytes < 0) {
    throw Error(ErrorCode::invalid_argument,
                pair_text(entry) + ": negative size " + std::to_string(entry.bytes));
  }
  if (entry.bytes > max_bytes) {
    throw Error(ErrorCode::limit, pair_text(entry) + ": " + std::to_string(entry.bytes) +
                                      " bytes, more than the largest size 2^62");
  }
}

bool by_ends(const Message& a, const Message& b) { return std::pair(a.src, a.dst) < std::pair(b.src, b.dst); }

void check_no_pair_twice(std::span<const Message> sorted) {
  const auto same_ends = [](const Message& a, const Message& b) { return a.src == b.src && a.dst == b.dst; };
  const auto twice = std::ranges::adjacent_find(sorted, same_ends);
  if (twice != sorted.end())
    throw Error(ErrorCode::invalid_argument,
                pair_text(*twice) + ": given twice; a matrix has one size for a pair: add them up");
}

/// Adds to a sum and throws if it would exceed max_bytes.
void add_checked(Bytes& sum, Bytes bytes, const auto& name_of_sum) {
  if (bytes > max_bytes - sum) throw Error(ErrorCode::limit, name_of_sum() + " more than 2^62 bytes in all");
  sum += bytes;
}

/// Returns whether the sum of all messages, and therefore the sum for every rank, is at most max_bytes.
bool sums_fit(std::span<const Message> entries) {
  Bytes left = max_bytes;
  for (const Message& entry : entries) {
    if (entry.bytes > left) return false;
    left -= entry.bytes;
  }
  return true;
}

/// Throws if a sum over messages, and therefore a sum over phases, could overflow.
void check_sums(std::span<const Message> entries, Rank num_ranks) {
  if (sums_fit(entries)) return;
  std::vector<Bytes> sent(static_cast<std::size_t>(num_ranks), 0);
  std::vector<Bytes> received(sent);
  Bytes total = 0;
  for (const Message& entry : entries) {
    add_checked(sent[static_cast<std::size_t>(entry.src)], entry.bytes,
                [&] { return "rank " + std::to_string(entry.src) + " sends"; });
    add_checked(received[static_cast<std::size_t>(entry.dst)], entry.bytes,
                [&] { return "rank " + std::to_string(entry.dst) + " receives"; });
    add_checked(total, entry.bytes, [] { return std::string("the messages have"); });
  }
}

}  // namespace

CommMatrix CommMatrix::from_messages(Rank num_ranks, std::span<const Message> entries) {
  if (num_ranks < 0) {
    throw Error(ErrorCode::invalid_argument, "negative number of ranks " + std::to_string(num_ranks));
  }
  core::require_at_most_max_ranks(num_ranks);
  if (entries.size() >= std::numeric_limits<MessageId>::max()) {
    throw Error(ErrorCode::limit, std::to_string(entries.size()) + " messages, more than 2^32 - 2");
  }
  for (const Message& entry : entries) check_entry(entry, num_ranks);
  std::vector<Message> copy;
  if (!std::ranges::is_sorted(entries, by_ends)) {
    copy.assign(entries.begin(), entries.end());
    std::ranges::sort(copy, by_ends);
    entries = copy;
  }
  check_no_pair_twice(entries);
  check_sums(entries, num_ranks);

  CommMatrix matrix;
  const std::size_t n = index(num_ranks);
  matrix.num_ranks_ = num_ranks;
  matrix.row_begin_.assign(n + 1, 0);
  matrix.column_begin_.assign(n + 1, 0);
  matrix.self_bytes_.assign(n, 0);
  for (const Message& entry : entries) {
    if (entry.src == entry.dst) {
      matrix.self_bytes_[index(entry.src)] = entry.bytes;
    } else if (entry.bytes > 0) {
      matrix.src_.push_back(entry.src);
      matrix.dst_.push_back(entry.dst);
      matrix.bytes_.push_back(entry.bytes);
      ++matrix.row_begin_[index(entry.src) + 1];
      ++matrix.column_begin_[index(entry.dst) + 1];
    }
  }
  for (std::size_t rank = 0; rank < n; ++rank) {
    matrix.row_begin_[rank + 1] += matrix.row_begin_[rank];
    matrix.column_begin_[rank + 1] += matrix.column_begin_[rank];
  }
  // Ids ascend by source, so a counting sort by destination makes every column sorted by source.
  std::vector<MessageId> next(matrix.column_begin_.begin(), matrix.column_begin_.end() - 1);
  matrix.column_ids_.resize(matrix.dst_.size());
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    matrix.column_ids_[next[index(matrix.dst_[id])]++] = id;
  }
  return matrix;
}

std::optional<MessageId> CommMatrix::find(Rank src, Rank dst) const {
  if (src < 0 || src >= num_ranks_) return std::nullopt;
  const auto begin = dst_.begin() + row_begin_[index(src)];
  const auto end = dst_.begin() + row_begin_[index(src) + 1];
  const auto found = std::lower_bound(begin, end, dst);
  if (found == end || *found != dst) return std::nullopt;
  return static_cast<MessageId>(found - dst_.begin());
}

std::vector<Message> CommMatrix::entries() const {
  std::vector<Message> all;
  all.reserve(dst_.size());
  for (Rank src = 0; src < num_ranks_; ++src) {
    bool self_due = self_bytes(src) > 0;
    for (const MessageId id : sent_by(src)) {
      if (self_due && dst_[id] > src) {
        all.push_back({src, src, self_bytes(src)});
        self_due = false;
      }
      all.push_back(message(id));
    }
    if (self_due) all.push_back({src, src, self_bytes(src)});
  }
  return all;
}

std::uint64_t CommMatrix::fingerprint() const {
  std::uint64_t hash = mix64(static_cast<std::uint64_t>(num_ranks_));
  const auto absorb = [&hash](std::uint64_t word) { hash = mix64(hash ^ word); };
  for (const Message& entry : entries()) {
    absorb((static_cast<std::uint64_t>(entry.src) << 32) | static_cast<std::uint64_t>(entry.dst));
    absorb(static_cast<std::uint64_t>(entry.bytes));
  }
  return hash;
}

}  // namespace nuice
