// SPDX-License-Identifier: BSD-3-Clause
// Phases as bins for messages. A message in a phase takes a slot of each of its needs: its sender's port, its
// receiver's port and the links of its route (graph/routes.hpp).
//
// One bit per need (port or link) and phase says whether the need is full in that phase. So the phases that
// can take a message are found by combining a few words with "or". The message in each slot is stored, so
// that the messages that block another message can be removed. Memory: 4 bytes per slot of a port or link,
// per phase.
#pragma once

#include <span>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "schedulers/graph/routes.hpp"

namespace nuice::sched {

class Packing {
 public:
  using Need = std::uint32_t;
  static constexpr MessageId no_message = ~MessageId{0};
  static constexpr PhaseId nowhere = ~PhaseId{0};

  Packing(const CommMatrix& matrix, const Routes& routes);

  std::span<const Need> needs(MessageId id) const {
    return {needs_.data() + begin_[id], begin_[id + 1] - begin_[id]};
  }
  /// Returns a lower bound on the number of phases for the messages with this need: the number of messages
  /// divided by the slots, not rounded.
  double load(Need need) const {
    return static_cast<double>(load_[need]) / static_cast<double>(num_slots(need));
  }

  PhaseId num_phases() const { return num_phases_; }
  PhaseId phase_of(MessageId id) const { return phase_of_[id]; }
  /// Returns the phase of each message.
  const std::vector<PhaseId>& phases() const { return phase_of_; }

  /// Removes all messages and phases.
  void clear();
  void add_phase();
  /// Removes the phase with the fewest messages, and returns its messages. The last phase takes over its
  /// number. Requires at least one phase.
  std::vector<MessageId> dissolve_smallest_phase();

  /// Returns one bit per phase, which is 1 if the phase can take the message. Valid until the next call.
  std::span<const std::uint64_t> free_phases(MessageId id);
  /// Requires that the phase can take the message.
  void put(MessageId id, PhaseId phase);
  void take_out(MessageId id);

  bool is_full(Need need, PhaseId phase) const {
    return (full_[need * num_words_ + phase / 64] >> (phase % 64) & 1U) != 0;
  }
  /// Calls body(MessageId) for every slot of a need in a phase, with the message in the slot, or with
  /// `no_message` if the slot is free.
  template <typename Body>
  void for_occupants(Need need, PhaseId phase, Body body) const {
    for (std::size_t slot = first_slot_[need]; slot < first_slot_[need + 1]; ++slot)
      body(occupant(slot, phase));
  }
  /// The sum over all messages of the number of their needs.
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
  std::size_t num_words_ = 0;        // allocated words of 64 phases each
  std::vector<std::uint64_t> full_;  // by need, then phase
  std::vector<MessageId> occupant_;  // by slot, then phase
  std::vector<std::uint64_t> free_;  // the result of free_phases()
};

}  // namespace nuice::sched
