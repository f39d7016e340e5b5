// SPDX-License-Identifier: BSD-3-Clause
// Schedules that split messages, as a test needs them: correct, but made without any thought of speed.
#pragma once

#include <algorithm>
#include <vector>

#include "nuice/core/schedule.hpp"

namespace nuice::test {

/// Every message in pieces of at most `piece_bytes` bytes; piece k goes in phase (k + src) mod num_phases, so
/// that the pieces of one message are spread over phases out of the order of their offsets, and several share
/// a phase.
inline Schedule split_schedule(const CommMatrix& matrix, Bytes piece_bytes, PhaseId num_phases) {
  std::vector<std::vector<Piece>> phases(num_phases);
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    auto k = static_cast<PhaseId>(matrix.src(id));
    for (Bytes offset = 0; offset < matrix.bytes(id); offset += piece_bytes, ++k)
      phases[k % num_phases].push_back({id, offset, std::min(piece_bytes, matrix.bytes(id) - offset)});
  }
  Schedule schedule(matrix.num_ranks());
  for (const std::vector<Piece>& phase : phases) {
    schedule.begin_phase();
    for (const Piece& piece : phase)
      schedule.add(matrix.src(piece.message), matrix.dst(piece.message), {&piece, 1});
  }
  return schedule;
}

}  // namespace nuice::test
