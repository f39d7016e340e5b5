// SPDX-License-Identifier: BSD-3-Clause
// The random numbers of clusters are functions of (seed, cluster, site, direction), by Threefry-2x64 of
// Random123 (Salmon, Moraes, Dror, Shaw, SC 2011). So a cluster does not depend on the rank that grows it or
// on the order.
//
// A bond between two sites gets one number for each direction in which it can be tried. Only the first try
// matters. After it, either both sites are in the cluster, or the try has failed. In the latter case a later
// try from the other end finds this end in the cluster. So the numbers that are used are independent, and the
// cluster is the set of sites that bonds reach which are active with probability p. It is the same in every
// order. One call of the generator decides all four bonds of a site with 32 bits each. The error of p is at
// most 2^-33, which shifts beta by 3e-10.
#pragma once

#include <cstdint>

namespace nuice::wolff {

/// A site on a rank. The upper half is its number in the whole lattice (column * N + row). The lower half is
/// its position in the rank's cells.
using Word = std::uint64_t;

inline constexpr int batch =
    32;  ///< The number of sites whose numbers are made together: full vectors on any machine.
inline constexpr int rounds = 20;  ///< Random123's default; 13 pass BigCrush.

enum Direction { up, down, left, right };

struct Numbers {
  alignas(64) std::uint32_t of[4][batch];  ///< Indexed by direction and position in the batch.
};

/// Makes the numbers of words[0 .. n), n <= batch; reads all `batch` words. Vectorised: a full batch takes
/// about 2 ns per site.
void make_numbers(const Word* words, int n, std::uint64_t cluster, std::uint64_t seed, Numbers& numbers);

/// Returns the first site of the cluster, uniform in [0, sites).
std::uint64_t first_site(std::uint64_t cluster, std::uint64_t seed, std::uint64_t sites);

/// Returns the threshold below which a bond's number makes it active: 2^32 (1 - exp(-2 beta)).
std::uint64_t threshold(double beta);

}  // namespace nuice::wolff
