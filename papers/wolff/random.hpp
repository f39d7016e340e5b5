// SPDX-License-Identifier: BSD-3-Clause
// The random numbers of clusters: functions of (seed, cluster, site, direction), by Threefry-2x64 of Random123
// (Salmon, Moraes, Dror, Shaw, SC 2011), so that a cluster does not depend on which rank grows it, nor in which order.
//
// A bond between two sites gets one number for each direction in which it can be tried. Only the first try counts: once
// one end has tried, either both are in the cluster, or the try failed and a later one from the other end finds this
// end in the cluster. So the numbers that are used are independent, the set that is reached is that of bonds which
// are active with probability p, and it is the same in every order: the sites that a path of active directions leads to.
// One call of the generator then decides all four bonds of a site, 32 bits each: p is met to 2^-33, which is a shift of
// beta by 3e-10.
#pragma once

#include <cstdint>

namespace nuice::wolff {

/// A site on a rank: its number in the whole lattice (column * N + row) above, its place in the rank's cells below.
using Word = std::uint64_t;

inline constexpr int batch = 32;   ///< Sites whose numbers are made together: full vectors on any machine.
inline constexpr int rounds = 20;  ///< Random123's default; 13 pass BigCrush.

enum Direction { up, down, left, right };

struct Numbers {
  alignas(64) std::uint32_t of[4][batch];  ///< By direction and position in the batch.
};

/// For words[0 .. n), n <= batch; reads all `batch` words. Vectorised: a full batch takes about 2 ns a site.
void make_numbers(const Word* words, int n, std::uint64_t cluster, std::uint64_t seed, Numbers& numbers);

/// Where the cluster begins: uniform in [0, sites).
std::uint64_t first_site(std::uint64_t cluster, std::uint64_t seed, std::uint64_t sites);

/// A bond is active if its number is below: 2^32 (1 - exp(-2 beta)).
std::uint64_t threshold(double beta);

}  // namespace nuice::wolff
