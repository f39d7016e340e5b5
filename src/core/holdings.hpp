// SPDX-License-Identifier: BSD-3-Clause
// Tracks where every byte is while a schedule runs.
//
// A message starts as one segment at its source. A piece moves its byte range from the transfer's source to
// its destination. The source must have held every byte of the range since an earlier phase. Therefore bytes
// that are sent twice are found, because their source no longer holds them the second time, and forwarded
// bytes are followed through their hops. At the end every byte must be at its destination. Nearly all
// messages travel directly and whole. For these a flag suffices; only the other messages need a map of
// segments.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text/violation_text.hpp"
#include "nuice/core/check.hpp"

namespace nuice::core {

/// The places of the bytes of all messages.
class Holdings {
 public:
  explicit Holdings(const CommMatrix& matrix) : matrix_(matrix), arrived_whole_(matrix.num_messages(), 0) {}

  /// Moves a piece. Returns a violation if transfer.src does not hold all of it.
  std::optional<Violation> move(PhaseId phase, const Transfer& transfer, const Piece& piece) {
    const Message message = matrix_.message(piece.message);
    const bool whole = piece.offset == 0 && piece.bytes == message.bytes;
    const bool straight = transfer.src == message.src && transfer.dst == message.dst;
    const bool untouched = arrived_whole_[piece.message] == 0 && !segments_.contains(piece.message);
    if (whole && straight && untouched) {
      arrived_whole_[piece.message] = phase + 1;
      ++num_arrived_;
      return std::nullopt;
    }
    return move_part(phase, transfer, message, piece);
  }

  /// Returns a violation for the first message, in the order of ids, that is not at its destination.
  std::optional<Violation> find_undelivered(PhaseId num_phases) const {
    if (num_arrived_ == matrix_.num_messages()) return std::nullopt;
    for (MessageId id = 0; id < matrix_.num_messages(); ++id) {
      if (arrived_whole_[id] != 0) continue;
      const Message message = matrix_.message(id);
      const auto found = segments_.find(id);
      if (found == segments_.end())
        return undelivered(message, {0, message.bytes, message.src, 0}, num_phases);
      for (const auto& [offset, segment] : found->second) {
        if (segment.rank != message.dst) return undelivered(message, segment, num_phases);
      }
    }
    return std::nullopt;
  }

 private:
  struct Segment {
    Bytes begin;
    Bytes end;
    Rank rank;
    PhaseId since;  // the first phase in which `rank` may send the segment
  };
  using Segments = std::map<Bytes, Segment>;  // by first byte; together the segments cover the message

  static Violation undelivered(const Message& message, const Segment& where, PhaseId num_phases) {
    Violation violation{.kind = ViolationKind::not_delivered, .phase = num_phases};
    violation.message_src = message.src;
    violation.message_dst = message.dst;
    violation.offset = where.begin;
    violation.bytes = where.end - where.begin;
    violation.text = "after the last phase: " + text(message) + ": " +
                     bytes_text(violation.offset, violation.bytes) + " are still at " + text(where.rank);
    return violation;
  }

  Segments& segments_of(MessageId id) {
    const auto [found, is_new] = segments_.try_emplace(id);
    if (is_new) {
      const Message message = matrix_.message(id);
      const PhaseId since = std::exchange(arrived_whole_[id], 0);
      const Rank at = since != 0 ? message.dst : message.src;
      found->second.emplace(0, Segment{0, message.bytes, at, since});
      if (since != 0) --num_arrived_;
    }
    return found->second;
  }

  /// Splits the segment that contains byte `at`, so that a segment begins there.
  static void split(Segments& segments, Bytes at) {
    const auto after = segments.upper_bound(at);
    if (after == segments.begin()) return;
    Segment& before = std::prev(after)->second;
    if (before.begin == at || before.end <= at) return;
    segments.emplace(at, Segment{at, before.end, before.rank, before.since});
    before.end = at;
  }

  std::optional<Violation> move_part(PhaseId phase, const Transfer& transfer, const Message& message,
                                     const Piece& piece) {
    Segments& segments = segments_of(piece.message);
    const Bytes end = piece.offset + piece.bytes;
    split(segments, piece.offset);
    split(segments, end);
    for (auto at = segments.lower_bound(piece.offset); at != segments.end() && at->first < end; ++at) {
      Segment& segment = at->second;
      if (segment.rank != transfer.src) {
        return at_piece(ViolationKind::not_held, phase, transfer, message,
                        {piece.message, segment.begin, segment.end - segment.begin},
                        text(message) + ": " + bytes_text(segment.begin, segment.end - segment.begin) +
                            " are not at " + text(transfer.src) + " but at " + text(segment.rank));
      }
      if (segment.since > phase) {
        return at_piece(ViolationKind::not_held, phase, transfer, message,
                        {piece.message, segment.begin, segment.end - segment.begin},
                        text(message) + ": " + bytes_text(segment.begin, segment.end - segment.begin) +
                            " reach " + text(transfer.src) + " in the same phase");
      }
      segment.rank = transfer.dst;
      segment.since = phase + 1;
    }
    return std::nullopt;
  }

  const CommMatrix& matrix_;
  // For each message: the phase after the whole message's transfer; 0 if the message is at its source or in
  // segments_.
  std::vector<PhaseId> arrived_whole_;
  MessageId num_arrived_ = 0;
  std::unordered_map<MessageId, Segments> segments_;
};

}  // namespace nuice::core
