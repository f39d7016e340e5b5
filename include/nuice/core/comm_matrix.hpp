// SPDX-License-Identifier: BSD-3-Clause
// The communication matrix COM: the bytes from each rank to each other.
//
//   COM(src, dst) = bytes > 0  <=>  there is one message of that size from src to dst
//
// Kept compressed by sender (the papers' CCOM, NICE s.3.3) with a view by receiver. A message's id is its
// index in the order (src, dst). Two kinds of entries never become messages:
//   * zero bytes: a checker that follows bytes cannot notice the loss of an empty message (docs/adr/0001);
//   * src == dst: a rank's message to itself needs no port; its size is kept in self_bytes() (docs/adr/0002).
#pragma once

#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice {

struct Message {
  Rank src;
  Rank dst;
  Bytes bytes;
  friend bool operator==(const Message&, const Message&) = default;
};

class CommMatrix {
 public:
  /// A matrix without ranks.
  CommMatrix() = default;

  /// Builds the matrix from entries in any order. O(m log m) time.
  /// Throws Error: invalid_argument for a rank outside 0..num_ranks-1, a negative size or a pair given twice;
  /// limit for more than max_ranks ranks, and for a size or a sum of sizes above max_bytes. The message names the pair.
  static CommMatrix from_messages(Rank num_ranks, std::span<const Message> entries);

  Rank num_ranks() const { return num_ranks_; }
  MessageId num_messages() const { return static_cast<MessageId>(dst_.size()); }

  Message message(MessageId id) const { return {src_[id], dst_[id], bytes_[id]}; }
  Rank src(MessageId id) const { return src_[id]; }
  Rank dst(MessageId id) const { return dst_[id]; }
  Bytes bytes(MessageId id) const { return bytes_[id]; }

  /// Ids of the messages that `rank` sends, by ascending destination.
  auto sent_by(Rank rank) const {
    return std::views::iota(row_begin_[index(rank)], row_begin_[index(rank) + 1]);
  }
  /// Ids of the messages that `rank` receives, by ascending source.
  std::span<const MessageId> received_by(Rank rank) const {
    const auto begin = column_begin_[index(rank)];
    return {column_ids_.data() + begin, column_begin_[index(rank) + 1] - begin};
  }

  /// The message from src to dst, if there is one. O(log degree).
  std::optional<MessageId> find(Rank src, Rank dst) const;

  /// Bytes that `rank` sends to itself; 0 if none.
  Bytes self_bytes(Rank rank) const { return self_bytes_[index(rank)]; }

  /// All entries, including those of a rank to itself, sorted by (src, dst); from_messages() makes the same
  /// matrix from them.
  std::vector<Message> entries() const;

  /// 64-bit hash of everything above, the same on every platform. Plans carry it to identify their matrix.
  std::uint64_t fingerprint() const;

  friend bool operator==(const CommMatrix&, const CommMatrix&) = default;

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

  Rank num_ranks_ = 0;
  std::vector<MessageId> row_begin_{0};     // num_ranks + 1
  std::vector<Rank> src_;                   // by id
  std::vector<Rank> dst_;                   // by id
  std::vector<Bytes> bytes_;                // by id
  std::vector<MessageId> column_begin_{0};  // num_ranks + 1
  std::vector<MessageId> column_ids_;       // ids sorted by (dst, src)
  std::vector<Bytes> self_bytes_;           // num_ranks
};

}  // namespace nuice
