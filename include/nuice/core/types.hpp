// SPDX-License-Identifier: BSD-3-Clause
// The few names that every other header uses.
#pragma once

#include <cstdint>

namespace nuice {

using Rank = std::int32_t;        ///< 0 .. num_ranks - 1, as in MPI.
using Bytes = std::int64_t;       ///< Signed, so that a wrong size is seen as negative and not as huge.
using MessageId = std::uint32_t;  ///< Index of a message in its CommMatrix.
using PhaseId = std::uint32_t;    ///< 0 .. num_phases - 1.

inline constexpr Rank no_rank = -1;
/// The maximum number of ranks of a matrix. Each rank takes some memory even without messages, so a damaged
/// number in a file must not lead to a request for more memory than any machine has.
inline constexpr Rank max_ranks = Rank{1} << 24;
inline constexpr std::int64_t no_path = -1;  ///< The network's own route.

/// Largest size of a message, and of all messages of a matrix together.
inline constexpr Bytes max_bytes = Bytes{1} << 62;

}  // namespace nuice
