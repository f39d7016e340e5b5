// SPDX-License-Identifier: BSD-3-Clause
// A second judge of schedules, by a method that shares nothing with nuice::check(): every byte gets a place
// and is carried about one by one. Only for small matrices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "nuice/core/check.hpp"
#include "nuice/core/schedule.hpp"

namespace nuice::test {

/// Empty if every byte of every message is moved from holder to holder and ends at its destination, having
/// been there only once; otherwise what went wrong.
inline std::string follow_every_byte(const CommMatrix& matrix, const Schedule& schedule) {
  struct Byte {
    Rank at;
    std::uint64_t moved = 0;  // one more than the phase that moved it last
  };
  std::vector<std::vector<Byte>> messages(matrix.num_messages());
  for (MessageId id = 0; id < matrix.num_messages(); ++id)
    messages[id].assign(static_cast<std::size_t>(matrix.bytes(id)), {matrix.src(id)});
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      for (const Piece& piece : transfer.pieces) {
        std::vector<Byte>& message = messages.at(piece.message);
        for (Bytes i = piece.offset; i < piece.offset + piece.bytes; ++i) {
          Byte& byte = message.at(static_cast<std::size_t>(i));
          if (byte.moved == phase + std::uint64_t{1}) return "sent twice in a phase";
          if (byte.at != transfer.src) return "sent from where it is not";
          byte = {transfer.dst, phase + std::uint64_t{1}};
        }
      }
    }
  }
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    for (const Byte& byte : messages[id]) {
      if (byte.at != matrix.dst(id)) return "not delivered";
    }
  }
  return {};
}

inline bool has_node_contention(const Schedule& schedule) {
  const auto twice = [](std::vector<Rank>& ranks) {
    std::ranges::sort(ranks);
    return std::ranges::adjacent_find(ranks) != ranks.end();
  };
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    std::vector<Rank> senders;
    std::vector<Rank> receivers;
    for (const Transfer& transfer : schedule.transfers(phase)) {
      senders.push_back(transfer.src);
      receivers.push_back(transfer.dst);
    }
    if (twice(senders) || twice(receivers)) return true;
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

/// What check() has to say of a small schedule (sums of piece sizes fit in 64 bits), in one word:
/// right or not. link_free is not looked at.
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
