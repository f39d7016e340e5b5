// SPDX-License-Identifier: BSD-3-Clause
// One declaration per algorithm file; table.cpp lists them.
#pragma once

#include "nuice/plan/scheduler.hpp"

namespace nuice::sched {

Schedule make_ac(const Problem& problem);
Schedule make_lp(const Problem& problem);
Schedule make_gm(const Problem& problem);
Schedule make_compact_masking(const Problem& problem);
std::string why_not_coloring(const Problem& problem);
Schedule make_coloring(const Problem& problem);
std::string why_not_distributed_coloring(const Problem& problem);
Schedule make_distributed_coloring(const Problem& problem);
Schedule make_lex(const Problem& problem);
Schedule make_bex(const Problem& problem);
Schedule make_rex(const Problem& problem);
std::vector<std::int64_t> bruck_radices(Rank ranks);
Schedule make_bruck(const Problem& problem);
Schedule make_bruck_kport(const Problem& problem);
Bytes most_forwarded(Bytes phase_cost_bytes);
Schedule make_forward_small(const Problem& problem);
Schedule make_gs(const Problem& problem);
Schedule make_rs_nh(const Problem& problem);
Schedule make_lpt(const Problem& problem);
std::string why_not_peeling(const Problem& problem);
Schedule make_birkhoff(const Problem& problem);
Schedule make_coloring_by_size(const Problem& problem);
Schedule make_slices(const Problem& problem);
std::string why_not_kpbs(const Problem& problem);
Schedule make_kpbs(const Problem& problem);
std::string why_not_link_free(const Problem& problem);
Schedule make_rs_nl(const Problem& problem);
Schedule make_rs_nlh(const Problem& problem);
Schedule make_link_coloring(const Problem& problem);
/// paths: one per message. If it is empty, all messages take the network's routes.
Schedule color_on_paths(const Problem& problem, std::span<const std::int64_t> paths);
Schedule make_path_coloring(const Problem& problem);
Schedule make_link_list(const Problem& problem);

}  // namespace nuice::sched
