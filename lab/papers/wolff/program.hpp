// SPDX-License-Identifier: BSD-3-Clause
// What nuice-wolff does.
#pragma once

#include "wolff/options.hpp"
#include "wolff/report.hpp"

namespace nuice::wolff {

/// Collective. Thermalises, samples, tests, and times every case in turns. The report is complete on all ranks. Throws
/// Error, the same on all ranks.
Report run(Options& options);

/// Of rank 0 alone: small lattices against exact values, by the sequential program.
std::vector<Finding> test_small_lattices(double beta, std::uint64_t seed);

}  // namespace nuice::wolff
