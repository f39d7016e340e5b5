// SPDX-License-Identifier: BSD-3-Clause
// Generators of the communication matrices of the papers. The mesh pattern is in the Python package.
#pragma once

#include <cstdint>

#include "nuice/core/comm_matrix.hpp"

namespace nuice {

/// The sizes of generated messages. A size is unit_bytes times a whole number that is drawn uniformly from 1
/// .. max_units. With max_units = 1 all messages have the same size; for non-uniform sizes the papers use
/// max_units = 32 (004 table 5: COM * msg_unit).
struct MessageSizes {
  Bytes unit_bytes = 1024;
  Bytes max_units = 1;
};

/// Makes a matrix in which every rank sends `degree` messages and receives `degree` messages. It is a band
/// matrix whose rows and columns are permuted at random (003 fig. 7). Entries on the diagonal are swapped
/// with other entries, so that no rank sends to itself. Throws Error with code `invalid_argument` unless 0 <=
/// degree < num_ranks. O(num_ranks * degree) expected time.
CommMatrix random_regular(Rank num_ranks, Rank degree, MessageSizes sizes, std::uint64_t seed);

/// Makes a matrix in which every ordered pair of different ranks has a message with probability `density`
/// (001 s.4: 0.10, 0.25, 0.50, 0.75). Throws Error with code `invalid_argument` unless 0 <= density <= 1.
/// O(num_ranks^2).
CommMatrix random_density(Rank num_ranks, double density, MessageSizes sizes, std::uint64_t seed);

}  // namespace nuice
