// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/choose/candidates.hpp"

#include <algorithm>
#include <utility>

#include "exchange/plan/options.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::mpi {
bool tries_on(const PickedMachine& picked, const PlanOptions& options) {
  return options.effort == Effort::learn && !picked.is_named && !picked.is_one_host &&
         options.executor == auto_name && options.trace.empty();
}

bool predicts_order_only(const PickedMachine& picked, const PlanOptions& options) {
  return tries_on(picked, options) ||
         (picked.is_nominal && !picked.is_one_host && options.executor == auto_name);
}

std::vector<std::string> candidates_for(const PickedMachine& picked, const PlanOptions& options,
                                        bool for_hosts, bool order_only) {
  const Machine& machine = picked.machine;
  const bool is_free = options.executor == auto_name;
  const std::string asked = options.executor == auto_name ? std::string(default_executor) : options.executor;
  std::vector<std::string> ours;
  for (const std::string& name : mpi_candidates(machine)) {
    const std::size_t colon = name.find(':');
    const Scheduler& scheduler = find_scheduler(name.substr(0, colon));
    const Executor& executor = find_executor(is_free ? name.substr(colon + 1) : asked);
    if (for_hosts && scheduler.needs_topology()) continue;
    const bool forwards = (scheduler.guarantees & direct) == 0;
    if (for_hosts && forwards) continue;
    const bool floods = for_hosts && executor.pace == Pace::at_once && machine.queue_senders > 0;
    if (is_free && floods && !order_only) continue;
    if (!executor.carries_out(scheduler.guarantees)) continue;
    const bool has_order = (scheduler.guarantees & one_port) != 0;
    if (order_only && (executor.pace != Pace::at_once || !has_order)) continue;
    // Without option topology NUICE only guesses the links, and an order that keeps them free may lose time.
    if (order_only && scheduler.needs_topology() && options.topology.empty()) continue;
    const std::string candidate = std::string(scheduler.name) + ":" + std::string(executor.name);
    if (std::ranges::find(ours, candidate) == ours.end()) ours.push_back(candidate);
  }
  return ours;
}

SmallMessages small_messages(const CommMatrix& matrix, const Hosts& hosts, Bytes largest) {
  SmallMessages found;
  std::vector<std::pair<Rank, Rank>> pairs;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    const auto [src, dst, bytes] = matrix.message(id);
    if (hosts.same(src, dst) || bytes > largest) continue;
    ++found.number;
    pairs.emplace_back(hosts.host_of(src), hosts.host_of(dst));
  }
  std::ranges::sort(pairs);
  found.num_pairs = std::ranges::unique(pairs).begin() - pairs.begin();
  return found;
}

}  // namespace nuice::mpi
