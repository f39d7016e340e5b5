// SPDX-License-Identifier: BSD-3-Clause
// The types that all other headers use.
#pragma once

#include <cstdint>

namespace nuice {

using Rank = std::int32_t;  ///< The number of a rank, 0 .. num_ranks - 1, as in MPI.
/// A number of bytes. The type is signed, so that a wrong size shows as a negative number, not as a huge
/// number.
using Bytes = std::int64_t;
using MessageId = std::uint32_t;  ///< The index of a message in its CommMatrix.
using PhaseId = std::uint32_t;    ///< The number of a phase, 0 .. num_phases - 1.

inline constexpr Rank no_rank = -1;
/// The maximum number of ranks of a matrix. A rank takes memory even if it has no messages; without this
/// limit a damaged file could request more memory than any machine has.
inline constexpr Rank max_ranks = Rank{1} << 24;
inline constexpr std::int64_t no_path = -1;  ///< A path number that means the network's own route.

/// The maximum size of a message, and of the sum of all messages of a matrix.
inline constexpr Bytes max_bytes = Bytes{1} << 62;

}  // namespace nuice
