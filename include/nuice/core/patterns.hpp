// SPDX-License-Identifier: BSD-3-Clause
// Generators of the communication matrices of the papers. The mesh pattern is in the Python package.
#pragma once

#include <cstdint>

#include "nuice/core/comm_matrix.hpp"

namespace nuice {

/// The sizes of generated messages: unit_bytes times a whole number drawn uniformly from 1 .. max_units.
/// max_units = 1 makes all messages equal; the papers use 32 for non-uniform sizes (004 table 5: COM *
/// msg_unit).
struct MessageSizes {
  Bytes unit_bytes = 1024;
  Bytes max_units = 1;
};

/// Makes a matrix in which every rank sends `degree` messages and receives `degree` (003 fig. 7: a band
/// matrix with its rows and columns permuted at random). Entries on the diagonal are swapped with other
/// entries, so that no rank sends to itself. Throws Error invalid_argument unless 0 <= degree < num_ranks.
/// O(num_ranks * degree) expected time.
CommMatrix random_regular(Rank num_ranks, Rank degree, MessageSizes sizes, std::uint64_t seed);

/// Makes a matrix in which every ordered pair of different ranks has a message with probability `density`
/// (001 s.4: 0.10, 0.25, 0.50, 0.75). Throws Error invalid_argument unless 0 <= density <= 1. O(num_ranks^2).
CommMatrix random_density(Rank num_ranks, double density, MessageSizes sizes, std::uint64_t seed);

}  // namespace nuice
