// SPDX-License-Identifier: BSD-3-Clause
// A schedule: phases, which consist of transfers, which carry pieces of messages.
//
//   schedule = phases, one after the other
//   phase    = transfers that may run at the same time
//   transfer = src -> dst, carries one or more pieces
//   piece    = byte range [offset, offset + bytes) of one message
//
// If senders can choose paths of the network, a transfer may name a path (Topology::append_path()).
//
// This type holds every kind of plan: one phase without order (AC), whole messages in partial permutations
// (LP, RS_N, ...), split messages (pieces of a message in several phases) and store-and-forward (transfers
// that do not go from the source of a message to its destination). No phase is empty. The order of transfers
// inside a phase is kept: a rank posts its sends of the phase in this order.
//
// Memory: a schedule takes 24 bytes per piece. If any piece has an offset other than 0, it takes 8 bytes more
// per piece. If any transfer carries several pieces, it takes 8 bytes more per transfer, and if any transfer
// has a path, another 8 bytes per transfer.
#pragma once

#include <cstddef>
#include <iterator>
#include <ranges>
#include <span>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/types.hpp"

namespace nuice {

struct Piece {
  MessageId message;
  Bytes offset;
  Bytes bytes;
  friend bool operator==(const Piece&, const Piece&) = default;
};

class Schedule;

/// The pieces of a transfer: a view into a Schedule that returns pieces by value.
class Pieces {
 public:
  class Iterator {
   public:
    using value_type = Piece;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;  // as far as the old concepts go: no reference
    Iterator() = default;
    Iterator(const Schedule* schedule, std::size_t at) : schedule_(schedule), at_(at) {}
    Piece operator*() const;
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return {schedule_, at_++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Schedule* schedule_ = nullptr;
    std::size_t at_ = 0;
  };

  Pieces(const Schedule* schedule, std::size_t begin, std::size_t end)
      : schedule_(schedule), begin_(begin), end_(end) {}
  Iterator begin() const { return {schedule_, begin_}; }
  Iterator end() const { return {schedule_, end_}; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  Piece operator[](std::size_t index) const { return *Iterator(schedule_, begin_ + index); }

 private:
  const Schedule* schedule_;
  std::size_t begin_;
  std::size_t end_;
};

/// A transfer: a view into a Schedule, valid until the schedule is changed or moved.
struct Transfer {
  Rank src;
  Rank dst;
  Pieces pieces;
  std::int64_t path = no_path;  ///< The number of the path; no_path: the network's own route.
  Bytes bytes() const;
};

class Schedule {
 public:
  explicit Schedule(Rank num_ranks = 0) : num_ranks_(num_ranks) {}

  Rank num_ranks() const { return num_ranks_; }
  PhaseId num_phases() const;
  std::size_t num_transfers() const { return piece_end_.empty() ? pieces_.size() : piece_end_.size(); }

  std::size_t num_pieces() const { return pieces_.size(); }
  /// Returns whether any transfer has a path.
  bool has_paths() const { return !path_.empty(); }

  Transfer transfer(std::size_t index) const;
  /// Returns the transfers of a phase, as a range of Transfer.
  auto transfers(PhaseId phase) const {
    return std::views::iota(phase_begin_[phase], phase_end(phase)) |
           std::views::transform([this](std::size_t i) { return transfer(i); });
  }

  /// Reserves memory for the total number of pieces. Optional; saves time and memory.
  void reserve(std::size_t num_pieces) { pieces_.reserve(num_pieces); }
  /// Begins a new phase for the transfers added later. Does nothing if the current phase is empty.
  void begin_phase();
  /// Adds a transfer to the current phase. Throws Error with code `invalid_argument` if the transfer has no
  /// pieces.
  void add(Rank src, Rank dst, std::span<const Piece> pieces, std::int64_t path = no_path);
  /// Adds the whole message, sent directly from its source to its destination.
  void add_whole(const CommMatrix& matrix, MessageId id);
  /// Makes a schedule that sends every message as a whole and directly; message `id` travels in phase
  /// phase_of[id] < num_phases. Inside a phase, transfers are sorted by id, and therefore by sender. Phases
  /// without messages are left out. O(messages + num_phases) time, 8 bytes per phase in addition to the
  /// schedule.
  static Schedule of_whole_messages(const CommMatrix& matrix, std::span<const PhaseId> phase_of,
                                    PhaseId num_phases, std::span<const std::int64_t> paths = {});

  friend bool operator==(const Schedule& a, const Schedule& b);

 private:
  friend class Pieces::Iterator;
  struct StoredPiece {
    Bytes bytes;
    MessageId message;
    Rank src;  // source of the transfer
    Rank dst;
    friend bool operator==(const StoredPiece&, const StoredPiece&) = default;
  };

  std::size_t phase_end(PhaseId phase) const {
    return phase + std::size_t{1} < phase_begin_.size() ? phase_begin_[phase + 1] : num_transfers();
  }
  std::size_t piece_end(std::size_t transfer) const {
    return piece_end_.empty() ? transfer + 1 : piece_end_[transfer];
  }

  Rank num_ranks_;
  std::vector<std::size_t> phase_begin_;  // index of each phase's first transfer
  std::vector<StoredPiece> pieces_;       // by piece
  std::vector<Bytes> offset_;             // by piece; empty if all offsets are 0
  std::vector<std::size_t> piece_end_;    // by transfer; empty if every transfer has one piece
  std::vector<std::int64_t> path_;        // by transfer; empty if no transfer has a path
};

inline Piece Pieces::Iterator::operator*() const {
  const auto& part = schedule_->pieces_[at_];
  return {part.message, schedule_->offset_.empty() ? 0 : schedule_->offset_[at_], part.bytes};
}

/// Returns the sum of the largest transfers of all phases, in bytes. If phases do not overlap, the time of an
/// exchange is at least the time to send this number of bytes.
Bytes phase_bytes(const Schedule& schedule);

}  // namespace nuice
