// SPDX-License-Identifier: BSD-3-Clause
// Planning::root with the scheduler "auto": only rank 0 has the matrix, so only it can ask the adviser. share_from_rank_0() tells the
// others its advice, but for the schedule, which stays there. O(candidates).
#pragma once

#include "mpi/share.hpp"
#include "nuice/plan/advise.hpp"

template <>
struct nuice::core::Fields<nuice::Candidate> {
  static auto of(auto& candidate) {
    auto& [scheduler, executor, applicable, predicted_by, phases, phase_bytes, planning_s, exchange_s,
           total_s, to_bound, uncertainty, why_not] = candidate;
    return std::tie(scheduler, executor, applicable, predicted_by, phases, phase_bytes, planning_s,
                    exchange_s, total_s, to_bound, uncertainty, why_not);
  }
};

template <>
struct nuice::core::Fields<nuice::Advice> {
  static auto of(auto& advice) {
    auto& [machine, topology, num_ranks, num_messages, total_bytes, reuse, seed, port_bound_s, link_bound_s,
           bound_s, phase_cost_bytes, prefer_pairs, candidates, decided_by, deciding_s, budget_s, sentence,
           schedule] = advice;
    return std::tie(machine, topology, num_ranks, num_messages, total_bytes, reuse, seed, port_bound_s,
                    link_bound_s, bound_s, phase_cost_bytes, prefer_pairs, candidates, decided_by, deciding_s,
                    budget_s, sentence);
  }
};
