// SPDX-License-Identifier: BSD-3-Clause
// A second judge of schedules, by a method that shares nothing with nuice::check(): every byte gets a place
// and is carried about one by one. Only for small matrices.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "nuice/core/schedule.hpp"

namespace nuice::test {

/// Empty if every byte of every message is moved from holder to holder and ends at its destination, having
/// been there only once; otherwise what went wrong.
inline std::string follow_every_byte(const CommMatrix& matrix, const Schedule& schedule) {
  std::vector<std::vector<Rank>> at(matrix.num_messages());
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    at[id].assign(static_cast<std::size_t>(matrix.bytes(id)), matrix.src(id));
  }
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    const auto before = at;
    std::set<std::pair<MessageId, Bytes>> moved;
    for (const Transfer& transfer : schedule.transfers(phase)) {
      for (const Piece& piece : transfer.pieces) {
        for (Bytes byte = piece.offset; byte < piece.offset + piece.bytes; ++byte) {
          if (before.at(piece.message).at(static_cast<std::size_t>(byte)) != transfer.src)
            return "sent from where it is not";
          if (!moved.insert({piece.message, byte}).second) return "sent twice in a phase";
          at[piece.message][static_cast<std::size_t>(byte)] = transfer.dst;
        }
      }
    }
  }
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    for (const Rank rank : at[id]) {
      if (rank != matrix.dst(id)) return "not delivered";
    }
  }
  return {};
}

inline bool has_node_contention(const Schedule& schedule) {
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    std::multiset<Rank> senders;
    std::multiset<Rank> receivers;
    for (const Transfer& transfer : schedule.transfers(phase)) {
      senders.insert(transfer.src);
      receivers.insert(transfer.dst);
    }
    for (const Rank rank : senders) {
      if (senders.count(rank) > 1) return true;
    }
    for (const Rank rank : receivers) {
      if (receivers.count(rank) > 1) return true;
    }
  }
  return false;
}

}  // namespace nuice::test
