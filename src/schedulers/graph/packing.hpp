// SPDX-License-Identifier: BSD-3-Clause
// Phases as boxes: each message in one of them, where it takes a slot of each of its needs: its sender's port, its
// receiver's and the links of its route (graph/routes.hpp).
//
// A bit per need and phase says whether the need is full there, so the phases that can take a message are found by
// or-ing a few words. For each slot its message is kept, so that those in the way of a message can be put out.
// Memory: 4 bytes per slot of a port or link and phase.
#pragma once

#include <span>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "schedulers/graph/routes.hpp"

namespace nuice::sched {

class Packing {
 public:
  using Need = std::uint32_t;
  static constexpr MessageId nobody = ~MessageId{0};
  static constexpr PhaseId nowhere = ~PhaseId{0};

  Packing(const CommMatrix& matrix, const Routes& routes);

  std::span<const Need> needs(MessageId id) const {
    return {needs_.data() + begin_[id], begin_[id + 1] - begin_[id]};
  }
  /// Phases that the messages with this need take at least: how many there are per slot.
  double load(Need need) const {
    return static_cast<double>(load_[need]) / static_cast<double>(num_slots(need));
  }

  PhaseId num_phases() const { return num_phases_; }
  PhaseId phase_of(MessageId id) const { return phase_of_[id]; }
  /// By message.
  const std::vector<PhaseId>& phases() const { return phase_of_; }

  /// Takes everything out; no phases are left.
  void clear();
  void add_phase();
  /// Takes all messages out of the phase with the fewest, returns them, and removes the phase: the last one takes its
  /// number. Requires a phase.
  std::vector<MessageId> dissolve_smallest_phase();

  /// The phases that can take a message, a bit each. Valid until the next call.
  std::span<const std::uint64_t> free_phases(MessageId id);
  /// Requires that the phase can take it.
  void put(MessageId id, PhaseId phase);
  void take_out(MessageId id);

  bool is_full(Need need, PhaseId phase) const {
    return (full_[need * num_words_ + phase / 64] >> (phase % 64) & 1U) != 0;
  }
  /// The messages that have the slots of a need in a phase; none for a free slot. Calls body(MessageId).
  template <typename Body>
  void for_occupants(Need need, PhaseId phase, Body body) const {
    for (std::size_t slot = first_slot_[need]; slot < first_slot_[need + 1]; ++slot)
      body(occupant(slot, phase));
  }
  /// Sum of the numbers of needs of all messages.
  std::size_t num_needs_of_all() const { return needs_.size(); }

 private:
  std::size_t num_slots(Need need) const { return first_slot_[need + 1] - first_slot_[need]; }
  MessageId& occupant(std::size_t slot, PhaseId phase) { return occupant_[slot * num_words_ * 64 + phase]; }
  const MessageId& occupant(std::size_t slot, PhaseId phase) const {
    return occupant_[slot * num_words_ * 64 + phase];
  }
  void widen(std::size_t num_words);

  std::vector<std::size_t> begin_;       // by message, and one more
  std::vector<Need> needs_;              // by message
  std::vector<std::size_t> first_slot_;  // by need, and one more
  std::vector<MessageId> load_;          // by need
  PhaseId num_phases_ = 0;
  std::vector<PhaseId> phase_of_;  // by message
  std::vector<MessageId> size_of_phase_;
  std::size_t num_words_ = 0;        // of 64 phases each, that there is room for
  std::vector<std::uint64_t> full_;  // by need, then phase
  std::vector<MessageId> occupant_;  // by slot, then phase
  std::vector<std::uint64_t> free_;  // what free_phases() returns
};

}  // namespace nuice::sched
