// SPDX-License-Identifier: BSD-3-Clause
// A schedule: phases of transfers of pieces of messages.
//
//   schedule = phases, one after the other
//   phase    = transfers that may run at the same time
//   transfer = src -> dst, carries one or more pieces
//   piece    = byte range [offset, offset + bytes) of one message
//
// One type holds every plan: one phase without order (AC), whole messages in partial permutations (LP, RS_N,
// ...), split messages (pieces of one message in several phases) and store-and-forward (a transfer whose ends
// are not the message's). A phase is never empty. Inside a phase the order of transfers is kept: it is the
// order in which a rank posts its sends when a phase has several.
#pragma once

#include <ranges>
#include <span>
#include <vector>

#include "nuice/comm_matrix.hpp"
#include "nuice/types.hpp"

namespace nuice {

struct Piece {
  MessageId message;
  Bytes offset;
  Bytes bytes;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// A view into a Schedule; valid as long as the schedule is not changed.
struct Transfer {
  Rank src;
  Rank dst;
  std::span<const Piece> pieces;
  Bytes bytes() const;
};

class Schedule {
 public:
  explicit Schedule(Rank num_ranks = 0) : num_ranks_(num_ranks) {}

  Rank num_ranks() const { return num_ranks_; }
  PhaseId num_phases() const;
  std::size_t num_transfers() const { return ends_.size(); }

  Transfer transfer(std::size_t index) const;
  /// The transfers of a phase, as a range of Transfer.
  auto transfers(PhaseId phase) const {
    return std::views::iota(phase_begin_[phase], phase_end(phase)) |
           std::views::transform([this](std::size_t i) { return transfer(i); });
  }

  void reserve(std::size_t num_transfers, std::size_t num_pieces);
  /// Later transfers belong to a new phase. Does nothing while the present phase is empty.
  void begin_phase();
  void add(Rank src, Rank dst, std::span<const Piece> pieces);
  /// Adds the whole message, straight from its source to its destination.
  void add_whole(const CommMatrix& matrix, MessageId id);

  friend bool operator==(const Schedule& a, const Schedule& b);

 private:
  struct Ends {
    Rank src;
    Rank dst;
    std::size_t piece_end;
    friend bool operator==(const Ends&, const Ends&) = default;
  };
  std::size_t phase_end(PhaseId phase) const {
    return phase + std::size_t{1} < phase_begin_.size() ? phase_begin_[phase + 1] : ends_.size();
  }

  Rank num_ranks_;
  std::vector<std::size_t> phase_begin_;  // index of each phase's first transfer
  std::vector<Ends> ends_;                // by transfer
  std::vector<Piece>
      pieces_;  // a transfer's pieces end at its piece_end, and begin where the one before ends
};

/// Sum over the phases of the largest transfer: the bytes that a barrier-separated execution waits for.
Bytes phase_bytes(const Schedule& schedule);

}  // namespace nuice
