// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 reads the matrix; every other rank learns its own row and column only.
#pragma once

#include <string>
#include <vector>

#include "nuice/core/bounds.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::bench {

struct Input {
  std::vector<Partner> destinations;  // this rank's row, by ascending rank
  std::vector<Partner> sources;       // this rank's column, by ascending rank

  // On rank 0 only.
  MessageId num_messages = 0;
  Bounds bounds;
  Bytes self_bytes = 0;  // of all ranks
};

/// Collective. Throws Error, the same on all ranks: io or parse for the file, mismatch if the matrix is not
/// for as many ranks as were started.
Input read_input(const std::string& path);

}  // namespace nuice::bench
