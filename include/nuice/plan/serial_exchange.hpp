// SPDX-License-Identifier: BSD-3-Clause
// The serial executor: all ranks in one process. It defines what every other executor must do.
//
// Effect, for every rank r and each of its sources s with b bytes (itself included):
//   receive[r][s][0 .. b) = send[s][r][0 .. b)
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nuice/core/phase_table.hpp"

namespace nuice {

struct SendBuffer {
  const void* data = nullptr;
  Bytes bytes = 0;  ///< Size of the buffer; at least the size of the message.
};

struct ReceiveBuffer {
  void* data = nullptr;
  Bytes bytes = 0;
};

/// Carries out the phases one after the other.
/// tables[r]: slice of rank r. send[r][i] belongs to tables[r].destinations[i], receive[r][i] to
/// tables[r].sources[i].
/// Throws Error mismatch (a send without a receive of the same length, or a message that the phases do not
/// carry completely; pair and phase are named) or invalid_argument (a buffer is missing or too small).
/// Buffers may then be partly written.
void exchange_serially(std::span<const PhaseTable> tables, std::span<const std::vector<SendBuffer>> send,
                       std::span<const std::vector<ReceiveBuffer>> receive);

}  // namespace nuice
