// SPDX-License-Identifier: BSD-3-Clause
// The collective planner. All ranks agree on the options and gather the matrix. Each rank makes and checks
// the same schedule, and keeps its own slice.
//
// Cost: T_gather + T_schedule + T_check. The gather is one allgather of an int per rank and one allgatherv of
// 16 bytes per message. No step can fail on some ranks only: see agree.hpp.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "core/partners.hpp"
#include "exchange/plan/listing.hpp"
#include "exchange/plan/options.hpp"
#include "exchange/plan/planner.hpp"
#include "flow/process.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/discover/gather.hpp"
#include "mpi/failure.hpp"
#include "mpi/observing.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/core/text_io.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::mpi {
namespace {

/// Returns nullptr for "auto".
const Scheduler* named_scheduler(const std::string& name) {
  if (name == auto_name) return nullptr;
  try {
    return &find_scheduler(name);
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) + "; or auto");
  }
}

/// Replaces "auto" by the defaults, if the scheduler is given by name.
PlanOptions settled(PlanOptions options) {
  if (options.scheduler == auto_name && options.planning == Planning::distributed)
    options.scheduler = distributed_scheduler;
  const bool is_chosen_later = options.scheduler == auto_name;
  if (options.executor == auto_name && !is_chosen_later) options.executor = default_executor;
  return options;
}

/// Returns the most bytes that any one rank keeps for other ranks.
Bytes most_staged_bytes(const CommMatrix& matrix, const Schedule& schedule) {
  std::vector<Bytes> staged(static_cast<std::size_t>(matrix.num_ranks()), 0);
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      Bytes& at_dst = staged[static_cast<std::size_t>(transfer.dst)];
      for (const Piece& piece : transfer.pieces)
        if (transfer.dst != matrix.dst(piece.message))
          at_dst = piece.bytes > max_bytes - at_dst ? max_bytes : at_dst + piece.bytes;
    }
  }
  return std::ranges::max(staged);
}

}  // namespace

void check_destinations(const Communicator& comm, std::span<const Partner> destinations) {
  core::check_listed_partners({comm.rank(), true}, comm.num_ranks(), destinations);
}

void require_phases_to_forward(const std::string& who, const Executor& executor) {
  if (executor.has_phases()) return;
  std::string some;
  for (const Executor& row : executors())
    if (row.on_mpi && row.has_phases()) some += (some.empty() ? "" : ", ") + std::string(row.name);
  throw Error(ErrorCode::not_applicable,
              who + " forwards messages through other ranks: use an executor with phases (" + some +
                  "), not " + std::string(executor.name));
}

void Plan::Planner::describe(const PlanOptions& options) {
  settled_options = options;
  settled_options.combine = info.combined;
  settled_options.shared_memory = info.shared_memory;
  info.scheduler = options.scheduler;
  info.seed = options.seed;
  info.phase_cost_bytes = options.phase_cost_bytes;
  info.executor = options.executor;
}

Notices Plan::Planner::notices_for(const Schedule& schedule, const Topology* topology,
                                   const PlanOptions& options) const {
  if (find_executor(options.executor).pace != Pace::notices) return {};
  const Dependencies before = dependencies(schedule, topology, 2 * options.depend.early_bytes);
  return slice_notices(schedule, before, comm->rank());
}

void Plan::Planner::describe(const CommMatrix& matrix, const Schedule& schedule, const PlanOptions& options) {
  describe(options);
  info.num_messages = matrix.num_messages();
  info.num_phases = schedule.num_phases();
  info.phase_bytes = phase_bytes(schedule);
  info.staged_bytes = most_staged_bytes(matrix, schedule);
  info.bounds = lower_bounds(matrix);
}

void Plan::Planner::agree_on_times() {
  const bool is_connected = info.num_hosts != 1 && flow::has_connections_to_others();
  std::array<double, 5> times = {info.gather_s, info.choose_s, info.schedule_s, info.check_s,
                                 is_connected ? 1.0 : 0.0};
  all_reduce(*comm, MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX);
  info.gather_s = times[0];
  info.choose_s = times[1];
  info.schedule_s = times[2];
  info.check_s = times[3];
  view.is_over_tcp = times[4] > 0;
}

void Plan::Planner::make(const Problem& problem, const PlanOptions& options, const Schedule* known) {
  const Scheduler& scheduler = find_scheduler(options.scheduler);
  require_suitable(scheduler, find_executor(options.executor));
  StopWatch watch;
  all_or_none(*comm, [&] {
    std::optional<Schedule> made;
    if (known == nullptr) made = make_schedule(problem, scheduler.name);
    const Schedule& schedule = made ? *made : *known;
    slice.table = nuice::slice(problem.matrix, schedule, comm->rank());
    slice.notices = notices_for(schedule, problem.topology, options);
    info.schedule_s = watch.lap();
    if (options.check) require_correct_for(problem, schedule, scheduler);
    info.check_s = options.check ? watch.lap() : 0;
    describe(problem.matrix, schedule, options);
  });
}

/// Collective. Applies rank 0's NUICE_OPTIONS to the options and checks them. Returns the same options on all
/// ranks.
PlanOptions Plan::Planner::agree_on_options(const PlanOptions& given) {
  agree(*comm, given.fault);
  auto [options, overridden] = with_environment(*comm, given);
  options = settled(options);
  require_equal_options(*comm, options);
  check_options(options);
  info.overridden = overridden;
  return options;
}

void Plan::Planner::plan_for(MPI_Comm parent, std::span<const Partner> all_destinations,
                             const PlanOptions& given) {
  const Observed observed(Region::plan);
  become_member(parent, given.watchdog_s);
  plan_listed(all_destinations, agree_on_options(given), nullptr);
}

void Plan::Planner::follow(const Made& earlier, std::span<const Partner> all_destinations,
                           const Outcome& fault) {
  const Observed observed(Region::plan);
  agree(*comm, fault);
  take_over(earlier);
  plan_listed(all_destinations, earlier.settled_options, &earlier);
}

void Plan::Planner::take_over(const Made& earlier) {
  info.overridden = earlier.info.overridden;
  for (const Rival& rival : earlier.rivals)
    if (!rival.table) rivals.push_back(rival);  // a rival's own schedule is made for the earlier messages
}

void Plan::Planner::plan_listed(std::span<const Partner> all_destinations, const PlanOptions& options,
                                const Made* earlier) {
  const Scheduler* const scheduler = named_scheduler(options.scheduler);
  all_or_none(*comm, [&] {
    check_destinations(*comm, all_destinations);
    destinations = merged(comm->rank(), all_destinations);
  });
  const std::size_t listing_bytes = most_listing_bytes(*comm, all_destinations);
  plan_merged(options, scheduler, earlier);
  lists_twice = listing_bytes > 0;
  if (lists_twice)
    slice.receive_from = listed_sources(*tags, all_destinations, slice.table.sources, listing_bytes);
  all_or_none(*comm, [&] {
    slice.send_to.assign(all_destinations.begin(), all_destinations.end());
    if (!lists_twice) slice.receive_from = slice.table.sources;
  });
  agree_on_times();
}

void Plan::Planner::plan_merged(const PlanOptions& options, const Scheduler* scheduler, const Made* earlier) {
  if (options.planning == Planning::distributed) {
    plan_distributed(options, earlier != nullptr && earlier->palette ? earlier : nullptr);
    return;
  }
  find_hosts(options);
  StopWatch watch;
  const CommMatrix matrix = gather_matrix(*comm, destinations);
  info.gather_s = watch.lap();
  if (scheduler == nullptr) {
    choose_and_make(matrix, options);
  } else {
    std::unique_ptr<const Topology> topology;
    all_or_none(*comm, [&] {
      if (!options.topology.empty()) topology = make_topology(options.topology);
    });
    const Problem problem{.matrix = matrix,
                          .seed = options.seed,
                          .phase_cost_bytes = options.phase_cost_bytes,
                          .topology = topology.get(),
                          .prefer_pairs = options.prefer_pairs};
    make(problem, options);
  }
  find_leaders();
}

void Plan::Planner::become_member(MPI_Comm parent, double watchdog_s_given) {
  member = Membership::of(parent, comm, watchdog_s_given);
  member.group->share(tags);
}

std::unique_ptr<Plan::State> Plan::Planner::finished() && {
  auto made = std::make_shared<const Made>(std::move(static_cast<Made&>(*this)));
  return std::make_unique<State>(State{tags, comm, member, std::move(made), std::move(view)});
}

Plan::Plan(MPI_Comm parent, std::span<const Partner> destinations, const PlanOptions& options) {
  Planner planner(PlanGroup::tags_for_plan(parent, options.watchdog_s));
  naming_dead_ranks(*planner.comm, [&] { planner.plan_for(parent, destinations, options); });
  state_ = std::move(planner).finished();
}

Plan Plan::follow(std::span<const Partner> destinations, const Outcome& fault) const {
  if (!state_) throw Error(ErrorCode::state, "the plan was moved away");
  require_running("Plan::follow()");
  std::shared_ptr<TagSpace> tags;
  Membership member = state_->member.beside(tags);
  Planner planner(std::move(tags), std::move(member));
  naming_dead_ranks(*planner.comm, [&] { planner.follow(*state_->made, destinations, fault); });
  return Plan(std::move(planner).finished());
}

Plan Plan::follow_on(MPI_Comm comm, const Outcome& fault) const {
  if (!state_) throw Error(ErrorCode::state, "the plan was moved away");
  require_running("Plan::follow_on()");
  Planner planner(PlanGroup::tags_for_plan(comm, state_->member.watchdog_s));
  naming_dead_ranks(*planner.comm, [&] { planner.follow_on(comm, *state_, fault); });
  return Plan(std::move(planner).finished());
}

Plan::Plan(std::unique_ptr<State> state) : state_(std::move(state)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

Plan::State& Plan::state() const {
  if (!state_) throw Error(ErrorCode::state, "the plan was freed, or moved away");
  if (state_->member.plan_is_freed) throw Error(ErrorCode::state, "the plan was freed");
  return *state_;
}

std::span<const Partner> Plan::destinations() const { return state().made->slice.send_to; }
std::span<const Partner> Plan::sources() const { return state().made->slice.receive_from; }
const PhaseTable& Plan::table() const { return state().made->slice.table; }
const PlanInfo& Plan::info() const { return state().made->info; }
const Advice* Plan::advice() const {
  const std::optional<Advice>& advice = state().made->advice;
  return advice ? &*advice : nullptr;
}

void Plan::save_matrix(const std::string& path) const {
  const State& plan = state();
  require_running("Plan::save_matrix()");
  const CommMatrix matrix = gather_matrix_at(*plan.comm, plan.made->destinations, 0);
  all_or_none(*plan.comm, [&] {
    if (plan.comm->rank() == 0)
      save_matrix_market(path, matrix, plan.made->info.scheduler + ", " + plan.made->info.executor);
  });
}

void Plan::free() {
  if (!state_) return;
  State freed;
  freed.member = state_->member.of_freed();
  *state_ = std::move(freed);
}

}  // namespace nuice::mpi
