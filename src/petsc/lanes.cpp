// SPDX-License-Identifier: BSD-3-Clause
// Plans bound to buffers, and the reports between ranks about their times.
#include <algorithm>
#include <span>
#include <utility>

#include "petsc/forest.hpp"
#include "petsc/status.hpp"

namespace nuice::petsc {
namespace {

/// The messages of a side in its buffer, in bytes. The plan lists partners like Side: destinations in the
/// order in which they were given, sources by ascending rank.
struct Messages {
  std::vector<std::int64_t> counts, offsets;

  Messages(const Side& side, std::int64_t unit_bytes) {
    for (std::size_t i = 0; i < side.ranks.size(); ++i) {
      counts.push_back(side.edges[i] * unit_bytes);
      offsets.push_back(side.begins[i] * unit_bytes);
    }
  }
};

}  // namespace

PetscErrorCode Route::add(MPI_Comm comm, Arm arm, double elapsed_s) {
  PetscFunctionBegin;
  if (!contest.add(arm, elapsed_s)) PetscFunctionReturn(PETSC_SUCCESS);
  const std::span<const double> report = contest.report();
  reported_.assign(report.begin(), report.end());
  heard_.resize(reported_.size());
  PetscCallMPI(MPI_Iallreduce(reported_.data(), heard_.data(), static_cast<PetscMPIInt>(heard_.size()),
                              MPI_DOUBLE, MPI_MAX, comm, &request_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Route::hear() {
  PetscFunctionBegin;
  if (!contest.needs_report()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Wait(&request_, MPI_STATUS_IGNORE));
  contest.learn(heard_);
  if (is_basics()) std::erase_if(lanes, [](const auto& lane) { return !lane->is_busy; });
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Forest::idle_lane(PetscSF sf, const UnitPlan& units, const Use& use, Route& route,
                                 Lane** lane) const {
  PetscFunctionBegin;
  const auto idle = std::ranges::find_if(route.lanes, [](const auto& known) { return !known->is_busy; });
  if (idle != route.lanes.end()) {
    *lane = idle->get();
  } else {
    PetscCall(add_lane(sf, units, use, route));
    *lane = route.lanes.back().get();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Forest::add_lane(PetscSF sf, const UnitPlan& units, const Use& use, Route& route) const {
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(sf));
  const std::int64_t unit_bytes = route.unit_bytes;

  PetscFunctionBegin;
  route.lanes.push_back(std::make_unique<Lane>());
  Lane& lane = *route.lanes.back();
  const auto bytes = [&](const Side& side) { return static_cast<std::size_t>(side.num_places * unit_bytes); };
  PetscCall(lane.at_roots.allocate(sf, use.at_roots, bytes(roots_)));
  PetscCall(lane.at_leaves.allocate(sf, use.at_leaves, bytes(leaves_)));
  Messages from(roots_, unit_bytes), to(leaves_, unit_bytes);
  void *source = lane.at_roots.to().data, *target = lane.at_leaves.to().data;
  if (route.direction == NUICE_BACKWARDS) {
    std::swap(from, to);
    std::swap(source, target);
  }
  const void* const sources[] = {source};
  void* const targets[] = {target};
  const MPI_Datatype type = MPI_BYTE;
  PetscCallNuice(comm, nuice_plan_bind_fields(units.plan, 1, sources, &type, from.counts.data(),
                                              from.offsets.data(), targets, &type, to.counts.data(),
                                              to.offsets.data(), route.direction, &lane.exchange));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Forest::log_messages(const Route& route) const {
#if defined(PETSC_USE_LOG)
  const bool to_leaves = route.direction == NUICE_FORWARDS;
  const Side& from = to_leaves ? roots_ : leaves_;
  const Side& to = to_leaves ? leaves_ : roots_;
  const auto bytes = [&](const Side& side) {
    return static_cast<PetscLogDouble>(side.num_places * route.unit_bytes);
  };
  petsc_isend_ct += static_cast<PetscLogDouble>(from.ranks.size());
  petsc_isend_len += bytes(from);
  petsc_irecv_ct += static_cast<PetscLogDouble>(to.ranks.size());
  petsc_irecv_len += bytes(to);
#endif
}

}  // namespace nuice::petsc
