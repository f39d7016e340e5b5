// SPDX-License-Identifier: BSD-3-Clause
// The ways in which ranks learn what they will receive, timed beside each other (004 table 3).
#pragma once

#include <string>

#include "nuice_bench/options.hpp"
#include "nuice_bench/payload.hpp"
#include "nuice_bench/report.hpp"

namespace nuice::bench {

/// Collective. Times every way on the matrix of the payload, in turns, and compares each result with the true column.
/// Returns a table, or JSON lines. Throws Error mismatch, on all ranks, for a wrong result.
std::string time_receive_lists(const Setting& setting, const Payload& payload);

}  // namespace nuice::bench
