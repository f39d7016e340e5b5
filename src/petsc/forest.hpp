// SPDX-License-Identifier: BSD-3-Clause
// What all duplicates of a star forest share: who exchanges with whom, how both sides are packed, the plans for units of a size,
// and the lanes: a plan bound to buffers, one for each exchange that is under way at a time.
#pragma once

#include <petsc/private/sfimpl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nuice/nuice.h"
#include "petsc/options.hpp"
#include "petsc/packing.hpp"

namespace nuice::petsc {

/// The other ranks that this rank's roots, or its leaves, are connected with, and the buffer for their messages: partner i's
/// edges[i] places begin at begins[i].
struct Side {
  std::vector<int> ranks;
  std::vector<std::int64_t> edges;
  std::vector<std::int64_t> begins;
  PetscInt num_places = 0;
  Packing packing;
};

/// Buffers for messages of units with unit_bytes, and the exchange between them.
struct Lane {
  std::int64_t unit_bytes = 0;
  nuice_direction direction = NUICE_FORWARDS;  ///< Forwards: from roots to leaves.
  std::vector<std::byte> at_roots, at_leaves;
  nuice_exchange* exchange = nullptr;
  bool is_busy = false;

  Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() { nuice_exchange_free(&exchange); }
};

/// The plan for units of about as many bytes: 2^size_class and less than twice as many. It is made for those of the first use.
struct UnitPlan {
  int size_class = 0;
  std::int64_t unit_bytes = 0;
  PetscInt uses = 0;  ///< Of all duplicates, both ways.
  bool is_decided = false;
  nuice_plan* plan = nullptr;  ///< Null once decided: exchanges of such units go by basic.
  std::string executor, why;   ///< What carries them out; why it is that, or why basic does.
  double set_up_s = 0;         ///< Of this rank: packing, planning, binding the first lane.
  std::vector<std::unique_ptr<Lane>> lanes;

  UnitPlan() = default;
  UnitPlan(const UnitPlan&) = delete;
  UnitPlan& operator=(const UnitPlan&) = delete;
  ~UnitPlan() {
    lanes.clear();
    nuice_plan_free(&plan);
  }
};

class Forest {
 public:
  /// Collective. The lane that the next exchange takes, idle; null: by basic. All ranks get a lane, or none. Costs a plan at use
  /// options.planned_at with units of a size, a binding where no lane is idle, otherwise next to nothing.
  PetscErrorCode next_lane(PetscSF sf, const Options& options, std::int64_t unit_bytes,
                           nuice_direction direction, Lane** lane);
  /// What -log_view counts of an exchange on a lane.
  void log_messages(const Lane& lane) const;
  const Packing& at_roots() const { return roots_.packing; }
  const Packing& at_leaves() const { return leaves_.packing; }
  /// From own roots to own leaves.
  const Packing& within() const { return within_; }
  const std::vector<std::unique_ptr<UnitPlan>>& plans() const { return plans_; }

 private:
  UnitPlan& plan_for(std::int64_t unit_bytes);
  PetscErrorCode set_up(PetscSF sf);
  PetscErrorCode decide(PetscSF sf, const Options& options, nuice_direction direction, UnitPlan& units);
  PetscErrorCode make_plan(PetscSF sf, const Options& options, UnitPlan& units) const;
  PetscErrorCode add_lane(PetscSF sf, UnitPlan& units, std::int64_t unit_bytes,
                          nuice_direction direction) const;

  Side roots_, leaves_;
  Packing within_;
  bool is_set_up_ = false;
  std::vector<std::unique_ptr<UnitPlan>> plans_;
};

}  // namespace nuice::petsc
