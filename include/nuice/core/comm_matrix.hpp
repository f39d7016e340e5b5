// SPDX-License-Identifier: BSD-3-Clause
// The communication matrix COM: the number of bytes from each rank to each other rank.
//
//   COM(src, dst) = bytes > 0  <=>  there is one message of that size from src to dst
//
// The matrix is stored in compressed form, sorted by sender (CCOM in the papers, NICE s.3.3), with an index
// by receiver. The id of a message is its position in the order (src, dst). Two kinds of entries never become
// messages:
//   * zero bytes: a checker that follows bytes cannot notice the loss of an empty message (docs/adr/0001);
//   * src == dst: a rank's message to itself needs no port; self_bytes() has its size (docs/adr/0002).
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
  /// Makes a matrix without ranks.
  CommMatrix() = default;

  /// Builds the matrix from entries in any order. O(m log m) time for m entries. Throws Error with code
  /// `invalid_argument` for a rank outside 0 .. num_ranks - 1, a negative size or a pair of ranks given
  /// twice; `limit` for more than max_ranks ranks, and for a size or a sum of sizes above max_bytes. The text
  /// names the pair.
  static CommMatrix from_messages(Rank num_ranks, std::span<const Message> entries);

  Rank num_ranks() const { return num_ranks_; }
  MessageId num_messages() const { return static_cast<MessageId>(dst_.size()); }

  Message message(MessageId id) const { return {src_[id], dst_[id], bytes_[id]}; }
  Rank src(MessageId id) const { return src_[id]; }
  Rank dst(MessageId id) const { return dst_[id]; }
  Bytes bytes(MessageId id) const { return bytes_[id]; }

  /// Returns the ids of the messages that `rank` sends, by ascending destination.
  auto sent_by(Rank rank) const {
    return std::views::iota(row_begin_[index(rank)], row_begin_[index(rank) + 1]);
  }
  /// Returns the ids of the messages that `rank` receives, by ascending source.
  std::span<const MessageId> received_by(Rank rank) const {
    const auto begin = column_begin_[index(rank)];
    return {column_ids_.data() + begin, column_begin_[index(rank) + 1] - begin};
  }

  /// Returns the id of the message from src to dst, if there is one. O(log degree).
  std::optional<MessageId> find(Rank src, Rank dst) const;

  /// Returns the number of bytes that `rank` sends to itself, which may be 0.
  Bytes self_bytes(Rank rank) const { return self_bytes_[index(rank)]; }

  /// Returns all entries sorted by (src, dst), including entries from a rank to itself. from_messages() makes
  /// the same matrix from these entries.
  std::vector<Message> entries() const;

  /// Returns a 64-bit hash of the matrix, which is the same on every platform. Files of plans contain the
  /// hash to identify the matrix.
  std::uint64_t fingerprint() const;

  friend bool operator==(const CommMatrix&, const CommMatrix&) = default;

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

  Rank num_ranks_ = 0;
  std::vector<MessageId> row_begin_{0};     // the first id of each sender; num_ranks + 1 entries
  std::vector<Rank> src_;                   // by id
  std::vector<Rank> dst_;                   // by id
  std::vector<Bytes> bytes_;                // by id
  std::vector<MessageId> column_begin_{0};  // index into column_ids_ by receiver; num_ranks + 1 entries
  std::vector<MessageId> column_ids_;       // ids sorted by (dst, src)
  std::vector<Bytes> self_bytes_;           // by rank
};

}  // namespace nuice
