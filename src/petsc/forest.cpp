// SPDX-License-Identifier: BSD-3-Clause
// The graph of a star forest as exchanges need it, and the choice of the method for its exchanges.
#include "petsc/forest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "petsc/status.hpp"

namespace nuice::petsc {
namespace {

/// The executor that sends all messages at once. PETSc's type basic does the same, and needs no additional
/// buffers.
constexpr const char* at_once = "async";
/// After this number of consecutive exchanges that were left to basic for good, no new unit size is expected.
constexpr int settled = 64;

/// One side's partners as PETSc lists them. Partner i has indices[offsets[i]] to indices[offsets[i + 1] - 1].
struct Listed {
  PetscInt num_ranks = 0;
  const PetscMPIInt* ranks = nullptr;
  const PetscInt* offsets = nullptr;
  const PetscInt* indices = nullptr;  ///< Of roots, or of leaves.

  /// Returns whether PETSc lists `rank`, this rank. PETSc then lists it first.
  bool has(PetscMPIInt rank) const { return num_ranks > 0 && ranks[0] == rank; }
};

PetscErrorCode set_up_side(const Listed& listed, PetscMPIInt own, PetscInt num_entries, Side& side) {
  PetscFunctionBegin;
  const PetscInt first = listed.has(own) ? 1 : 0;
  const PetscInt begin = listed.num_ranks == 0 ? 0 : listed.offsets[first];
  std::vector<PetscInt> order(static_cast<std::size_t>(listed.num_ranks - first));
  std::iota(order.begin(), order.end(), first);
  std::ranges::sort(order, {}, [&](PetscInt i) { return listed.ranks[i]; });
  for (const PetscInt i : order) {
    side.ranks.push_back(listed.ranks[i]);
    side.edges.push_back(listed.offsets[i + 1] - listed.offsets[i]);
    side.begins.push_back(listed.offsets[i] - begin);
  }
  side.num_places = listed.num_ranks == 0 ? 0 : listed.offsets[listed.num_ranks] - begin;
  PetscCall(side.packing.set_up(num_entries, side.num_places, listed.indices + begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

/// Local. Cost: O(edges of this rank).
PetscErrorCode Forest::set_up(PetscSF sf) {
  Listed roots, leaves;
  const PetscInt* roots_of_leaves = nullptr;
  PetscInt num_roots = 0, num_leaf_entries = 0;
  PetscMPIInt own = 0;

  PetscFunctionBegin;
  if (std::exchange(is_set_up_, true)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm(reinterpret_cast<PetscObject>(sf)), &own));
  PetscCall(PetscSFGetLeafRanks(sf, &roots.num_ranks, &roots.ranks, &roots.offsets, &roots.indices));
  PetscCall(PetscSFGetRootRanks(sf, &leaves.num_ranks, &leaves.ranks, &leaves.offsets, &leaves.indices,
                                &roots_of_leaves));
  PetscCall(PetscSFGetGraph(sf, &num_roots, nullptr, nullptr, nullptr));
  PetscCall(PetscSFGetLeafRange(sf, nullptr, &num_leaf_entries));
  num_leaf_entries = std::max<PetscInt>(num_leaf_entries + 1, 0);
  PetscCall(set_up_side(roots, own, num_roots, roots_));
  PetscCall(set_up_side(leaves, own, num_leaf_entries, leaves_));
  const PetscInt num_within = leaves.has(own) ? leaves.offsets[1] : 0;
  PetscCall(within_.set_up(num_roots, num_within, roots_of_leaves, leaves.indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

UnitPlan& Forest::plan_for(std::int64_t unit_bytes) {
  const int size_class = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(unit_bytes))) - 1;
  for (const auto& units : plans_)
    if (units->size_class == size_class) return *units;
  plans_.push_back(std::make_unique<UnitPlan>());
  plans_.back()->size_class = size_class;
  plans_.back()->unit_bytes = unit_bytes;
  return *plans_.back();
}

Route& UnitPlan::route(std::int64_t bytes, nuice_direction direction) {
  for (const auto& known : routes)
    if (known->unit_bytes == bytes && known->direction == direction) return *known;
  routes.push_back(std::make_unique<Route>());
  routes.back()->unit_bytes = bytes;
  routes.back()->direction = direction;
  return *routes.back();
}

PetscErrorCode Forest::make_plan(PetscSF sf, const Options& options, UnitPlan& units) const {
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(sf));

  PetscFunctionBegin;
  std::vector<std::int64_t> bytes;
  for (const std::int64_t edges : roots_.edges) bytes.push_back(edges * units.unit_bytes);
  PetscCallNuice(comm, nuice_plan_create(comm, static_cast<int>(roots_.ranks.size()), roots_.ranks.data(),
                                         bytes.data(), options.text().c_str(), &units.plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Collective. All ranks decide alike, because they have the same plans, executors and options.
PetscErrorCode Forest::decide(PetscSF sf, const Options& options, const Use& use, UnitPlan& units) {
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(sf));
  const char *executor = nullptr, *advice = nullptr, *methods = nullptr, *device = nullptr;
  double num_messages = 0;
  PetscLogDouble begin_s = 0, end_s = 0;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin_s));
  PetscCall(set_up(sf));
  PetscCall(make_plan(sf, options, units));
  Route& first = units.route(units.unit_bytes, use.direction);
  PetscCall(add_lane(sf, units, use, first));
  PetscCallNuice(comm, nuice_exchange_text(first.lanes.front()->exchange, "executor", &executor));
  PetscCallNuice(comm, nuice_exchange_text(first.lanes.front()->exchange, "methods", &methods));
  PetscCallNuice(comm, nuice_exchange_text(first.lanes.front()->exchange, "device", &device));
  PetscCallNuice(comm, nuice_plan_text(units.plan, "advice", &advice));
  PetscCallNuice(comm, nuice_plan_figure(units.plan, "messages", &num_messages));
  units.executor = executor;
  units.device = device;
  units.why = std::string(advice, std::strcspn(advice, "\n"));
  const bool tries_others = *methods != '\0';
  const bool is_basics = !options.names_a_way() && units.executor == at_once && !tries_others;
  if (is_basics || num_messages == 0) {
    units.why = num_messages == 0 ? "no rank needs anything of another" : "all is sent at once: " + units.why;
    units.routes.clear();
    PetscCallNuice(comm, nuice_plan_free(&units.plan));
  }
  PetscCall(PetscTime(&end_s));
  units.set_up_s = end_s - begin_s;
  units.state = units.plan != nullptr ? UnitPlan::State::planned : UnitPlan::State::basics;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Forest::next_turn(PetscSF sf, const Options& options, const Use& use, Turn* turn) {
  PetscFunctionBegin;
  *turn = {};
  if (use.unit_bytes <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  UnitPlan& units = plan_for(use.unit_bytes);
  ++units.uses;
  if (units.state == UnitPlan::State::counted && units.uses >= options.planned_at)
    PetscCall(decide(sf, options, use, units));
  if (units.state == UnitPlan::State::planned) {
    turn->route = &units.route(use.unit_bytes, use.direction);
    PetscCall(turn_of(sf, options, use, units, turn));
  }
  const bool is_for_good = units.state == UnitPlan::State::basics ||
                           (units.state == UnitPlan::State::planned && turn->route->is_basics());
  num_by_basic_ = is_for_good ? std::min(num_by_basic_ + 1, settled) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Chooses the next turn on a route with a plan.
PetscErrorCode Forest::turn_of(PetscSF sf, const Options& options, const Use& use, UnitPlan& units,
                               Turn* turn) const {
  Route& route = *turn->route;
  exchange::Contest::Step step{.arm = plan_arm};

  PetscFunctionBegin;
  if (options.compares()) {
    PetscCall(route.hear());
    step = route.is_basics() ? exchange::Contest::Step{.arm = basic_arm} : route.contest.next();
  }
  turn->is_timed = step.is_timed;
  if (step.arm == plan_arm) PetscCall(idle_lane(sf, units, use, route, &turn->lane));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Forest::is_basics(nuice_direction direction) const {
  return num_by_basic_ == settled && std::ranges::all_of(plans_, [&](const auto& units) {
           return std::ranges::all_of(units->routes, [&](const auto& route) {
             return route->direction != direction || route->is_basics();
           });
         });
}

}  // namespace nuice::petsc
