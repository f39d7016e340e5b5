// SPDX-License-Identifier: BSD-3-Clause
// A second judge of schedules, by a method that shares nothing with nuice::check(): every byte gets a place
// and is carried about one by one. Only for small matrices.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "nuice/core/check.hpp"
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

/// Whether a schedule names things that are not there: ranks, messages, bytes; or a rank sends to itself.
inline bool names_what_is_not_there(const CommMatrix& matrix, const Schedule& schedule) {
  const auto is_rank = [&](Rank rank) { return rank >= 0 && rank < matrix.num_ranks(); };
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      if (!is_rank(transfer.src) || !is_rank(transfer.dst) || transfer.src == transfer.dst) return true;
      for (const Piece& piece : transfer.pieces) {
        if (piece.message >= matrix.num_messages() || piece.bytes < 1 || piece.offset < 0) return true;
        if (piece.offset + piece.bytes > matrix.bytes(piece.message)) return true;
      }
    }
  }
  return false;
}

/// What check() has to say of a small schedule (sums of piece sizes fit in 64 bits), in one word: right or not.
/// link_free is not looked at.
inline bool is_right(const CommMatrix& matrix, const Schedule& schedule, unsigned guarantees) {
  if (schedule.num_ranks() != matrix.num_ranks() || names_what_is_not_there(matrix, schedule)) return false;
  if (!follow_every_byte(matrix, schedule).empty()) return false;
  if ((guarantees & one_port) != 0 && has_node_contention(schedule)) return false;
  std::vector<std::size_t> sends(static_cast<std::size_t>(matrix.num_ranks()));
  std::vector<std::size_t> receives(sends);
  std::vector<Bytes> out(sends.size());
  std::vector<Bytes> in(sends.size());
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    const auto src = static_cast<std::size_t>(matrix.src(id));
    const auto dst = static_cast<std::size_t>(matrix.dst(id));
    ++sends[src];
    ++receives[dst];
    out[src] += matrix.bytes(id);
    in[dst] += matrix.bytes(id);
  }
  const auto most = [](const auto& a, const auto& b) {
    return a.empty() ? 0 : std::max(*std::ranges::max_element(a), *std::ranges::max_element(b));
  };
  if ((guarantees & fewest_phases) != 0 && schedule.num_phases() > most(sends, receives)) return false;
  if ((guarantees & fewest_bytes) != 0 && phase_bytes(schedule) > most(out, in)) return false;
  for (PhaseId phase = 0; (guarantees & direct) != 0 && phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      for (const Piece& piece : transfer.pieces) {
        const Message message = matrix.message(piece.message);
        if (message.src != transfer.src || message.dst != transfer.dst) return false;
      }
    }
  }
  return true;
}

}  // namespace nuice::test
