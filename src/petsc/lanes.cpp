// SPDX-License-Identifier: BSD-3-Clause
// Binds plans to buffers.
#include <utility>

#include "petsc/forest.hpp"
#include "petsc/status.hpp"

namespace nuice::petsc {
namespace {

/// A side's messages in its buffer, in bytes. The plan lists partners as Side does: destinations in the order in which they were
/// given, sources by ascending rank.
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

PetscErrorCode Forest::add_lane(PetscSF sf, UnitPlan& units, std::int64_t unit_bytes,
                                nuice_direction direction) const {
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(sf));

  PetscFunctionBegin;
  units.lanes.push_back(std::make_unique<Lane>());
  Lane& lane = *units.lanes.back();
  lane.unit_bytes = unit_bytes;
  lane.direction = direction;
  lane.at_roots.resize(static_cast<std::size_t>(roots_.num_places * unit_bytes));
  lane.at_leaves.resize(static_cast<std::size_t>(leaves_.num_places * unit_bytes));
  Messages from(roots_, unit_bytes), to(leaves_, unit_bytes);
  void *source = lane.at_roots.data(), *target = lane.at_leaves.data();
  if (direction == NUICE_BACKWARDS) {
    std::swap(from, to);
    std::swap(source, target);
  }
  const void* const sources[] = {source};
  void* const targets[] = {target};
  const MPI_Datatype type = MPI_BYTE;
  PetscCallNuice(comm, nuice_plan_bind_fields(units.plan, 1, sources, &type, from.counts.data(),
                                              from.offsets.data(), targets, &type, to.counts.data(),
                                              to.offsets.data(), direction, &lane.exchange));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Forest::log_messages(const Lane& lane) const {
#if defined(PETSC_USE_LOG)
  const bool to_leaves = lane.direction == NUICE_FORWARDS;
  const Side& from = to_leaves ? roots_ : leaves_;
  const Side& to = to_leaves ? leaves_ : roots_;
  const auto bytes = [&](const Side& side) {
    return static_cast<PetscLogDouble>(side.num_places * lane.unit_bytes);
  };
  petsc_isend_ct += static_cast<PetscLogDouble>(from.ranks.size());
  petsc_isend_len += bytes(from);
  petsc_irecv_ct += static_cast<PetscLogDouble>(to.ranks.size());
  petsc_irecv_len += bytes(to);
#endif
}

}  // namespace nuice::petsc
