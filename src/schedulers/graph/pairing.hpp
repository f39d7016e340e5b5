// SPDX-License-Identifier: BSD-3-Clause
// The step in which two ranks meet if every rank meets every other in pairs.
//
// If n is a power of two, ranks i and j meet in step (i xor j) - 1. The papers leave other n open. Here the
// ranks then follow the timetable of a round-robin tournament. For odd n, i and j meet in round (i + j) mod
// n, and the rank with 2i mod n = round is idle. For even n, ranks below n-1 meet in the same way modulo n-1,
// and the idle rank meets rank n-1. So there are at most n-1 steps (n for odd n), the minimum for pairing.
#pragma once

#include <bit>
#include <cstdint>

#include "nuice/core/types.hpp"

namespace nuice::sched {

/// Returns the step, counted from 0, in which i and j meet. It is the same for (j, i). Requires i != j. In
/// each step a rank meets at most one other rank.
inline PhaseId meeting_step(Rank i, Rank j, Rank num_ranks) {
  using Index = std::uint32_t;  // sums of two do not overflow
  const auto a = static_cast<Index>(i);
  const auto b = static_cast<Index>(j);
  const auto n = static_cast<Index>(num_ranks);
  if (std::has_single_bit(n)) return (a ^ b) - 1;
  if (n % 2 == 1) return (a + b) % n;
  const Index last = n - 1;
  if (b == last) return 2 * a % last;
  if (a == last) return 2 * b % last;
  return (a + b) % last;
}

}  // namespace nuice::sched
