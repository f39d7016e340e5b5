// SPDX-License-Identifier: BSD-3-Clause
// The serial executor, which carries out an exchange of all ranks in one process. It defines the effect that
// every other executor must have.
//
// Effect, for every rank r and each of its sources s with b bytes (r itself may be a source):
//   receive[r][s][0 .. b) = send[s][r][0 .. b)
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nuice/core/phase_table.hpp"

namespace nuice {

struct SendBuffer {
  const void* data = nullptr;
  Bytes bytes = 0;  ///< The size of the buffer; at least the size of the message.
};

struct ReceiveBuffer {
  void* data = nullptr;
  Bytes bytes = 0;
};

/// Carries out the phases one after the other. tables[r] is the slice of rank r; send[r][i] belongs to
/// tables[r].destinations[i], receive[r][i] to tables[r].sources[i].
/// Throws Error with code `mismatch` if a send has no receive of the same length, or if the phases do not
/// carry a message completely (the text names pair and phase); `invalid_argument` if a buffer is missing or
/// too small. After an error buffers may be partly written.
void exchange_serially(std::span<const PhaseTable> tables, std::span<const std::vector<SendBuffer>> send,
                       std::span<const std::vector<ReceiveBuffer>> receive);

}  // namespace nuice
