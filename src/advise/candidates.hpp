// SPDX-License-Identifier: BSD-3-Clause
// Which scheduler goes with which executor, and what that needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nuice/plan/advise.hpp"

namespace nuice::advice {

inline constexpr std::string_view drs_n = "drs_n";
inline constexpr std::string_view credit = "credit";
inline constexpr std::string_view handshake = "handshake";

/// Its messages travel over ranks in between (store and forward).
bool forwards(std::string_view scheduler);

/// "rs_n:phased", or "rs_n" with the executor that suits the machine. Throws Error invalid_argument.
Candidate parse_candidate(std::string_view name, const Machine& machine);

/// Those of the options, or all; each once.
std::vector<Candidate> candidates_of(const AdviceOptions& options, const Machine& machine);

/// What the schedules of this matrix are made with on this machine.
Problem problem_of(const CommMatrix& matrix, const Machine& machine, std::uint64_t seed);

/// Empty if the candidate can handle the problem.
std::string why_not(const Candidate& candidate, const Problem& problem, const Machine& machine);

}  // namespace nuice::advice
