// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/choose/share_advice.hpp"

#include "mpi/share.hpp"

namespace nuice {

template <>
struct core::Fields<Candidate> {
  static auto of(auto& candidate) {
    auto& [scheduler, executor, applicable, predicted_by, phases, phase_bytes, planning_s, exchange_s,
           total_s, to_bound, uncertainty, why_not] = candidate;
    return std::tie(scheduler, executor, applicable, predicted_by, phases, phase_bytes, planning_s,
                    exchange_s, total_s, to_bound, uncertainty, why_not);
  }
};

template <>
struct core::Fields<Advice> {
  static auto of(auto& advice) {
    auto& [machine, topology, num_ranks, num_messages, total_bytes, reuse, seed, port_bound_s, link_bound_s,
           bound_s, phase_cost_bytes, prefer_pairs, candidates, decided_by, deciding_s, budget_s, sentence,
           schedule] = advice;
    return std::tie(machine, topology, num_ranks, num_messages, total_bytes, reuse, seed, port_bound_s,
                    link_bound_s, bound_s, phase_cost_bytes, prefer_pairs, candidates, decided_by, deciding_s,
                    budget_s, sentence);
  }
};

void mpi::share_advice(const Communicator& comm, Advice& advice) { share_from_rank_0(comm, advice); }

}  // namespace nuice
