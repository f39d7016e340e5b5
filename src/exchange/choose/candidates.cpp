// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/choose/candidates.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "exchange/plan/options.hpp"
#include "mpi/call.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::mpi {
namespace {

/// One of each executor (docs/adr/0050).
constexpr std::size_t most_trials = 4;

}  // namespace

bool tries_on(const PickedMachine& picked, const PlanOptions& options) {
  return options.automatic.learn && !options.automatic.measure && !picked.is_named && !picked.is_one_host &&
         options.executor == auto_name && options.trace.empty();
}

bool predicts_order_only(const PickedMachine& picked, const PlanOptions& options) {
  return tries_on(picked, options) || (picked.is_nominal && !picked.is_one_host &&
                                       !options.automatic.measure && options.executor == auto_name);
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
    // The links of a machine without a name are a guess, and an order that avoids them gives up others.
    if (order_only && scheduler.needs_topology() && options.topology.empty()) continue;
    const std::string candidate = std::string(scheduler.name) + ":" + std::string(executor.name);
    if (std::ranges::find(ours, candidate) == ours.end()) ours.push_back(candidate);
  }
  return ours;
}

std::string setting_text(const PlanOptions& options, bool for_hosts) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
  int length = 0;
  must(MPI_Get_library_version(library.data(), &length), "MPI_Get_library_version");
  PlanOptions deciding = options;
  deciding.topology.clear();  // the machine has it
  deciding.planning = {};
  deciding.check = true;
  deciding.watchdog_s = 0;
  deciding.trace.clear();
  deciding.environment = true;
  deciding.automatic = {};
  deciding.shared_memory = false;
  deciding.sharing = {};
  if (!for_hosts) {
    deciding.hosts = PlanOptions{}.hosts;
    deciding.combine = false;
    deciding.combining = {};
  }
  return std::string(library.data()) + " " + deciding.text();
}

std::vector<std::size_t> worth_trying(const Advice& advice, bool is_nominal) {
  const auto& all = advice.candidates;
  const auto applicable =
      static_cast<std::size_t>(std::ranges::count_if(all, [](const Candidate& c) { return c.applicable; }));
  const std::size_t contenders = is_nominal ? applicable : std::min(applicable, advice.num_contenders());
  std::vector<std::size_t> tried;
  std::vector<std::string_view> executors;
  for (std::size_t i = 0; i < contenders && tried.size() < most_trials; ++i) {
    if (std::ranges::find(executors, all[i].executor) != executors.end()) continue;
    executors.push_back(all[i].executor);
    tried.push_back(i);
  }
  const std::size_t count =
      std::min(applicable, std::clamp<std::size_t>(contenders, 2, most_trials));  // one alone is no trial
  for (std::size_t i = 0; i < applicable && tried.size() < count; ++i)
    if (std::ranges::find(tried, i) == tried.end()) tried.push_back(i);
  std::ranges::sort(tried);
  return tried;
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
