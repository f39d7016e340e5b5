// SPDX-License-Identifier: BSD-3-Clause
// What all duplicates of a star forest share: which ranks exchange, how both sides are packed, the plans for units of a size,
// which of plan and basic carries out what, and the lanes: a plan bound to buffers, one for each exchange that is active at a time.
#pragma once

#include <petsc/private/sfimpl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exchange/contest/contest.hpp"
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

/// Buffers for messages, and the exchange between them.
struct Lane {
  Buffer at_roots, at_leaves;
  nuice_exchange* exchange = nullptr;
  bool is_busy = false;

  Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() { nuice_exchange_free(&exchange); }
};

/// The arms of a route's contest.
enum Arm : std::uint8_t { basic_arm, plan_arm };

/// The exchanges of units with unit_bytes in one direction, once there is a plan for them.
struct Route {
  std::int64_t unit_bytes = 0;
  nuice_direction direction = NUICE_FORWARDS;  ///< Forwards: from roots to leaves.
  std::vector<std::unique_ptr<Lane>> lanes;
  exchange::Contest contest{2};  // begins with basic

  Route() = default;
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;
  /// All ranks have reported the active exchanges.
  ~Route() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

  bool is_plans() const { return contest.standings().is_settled() && contest.standings().best() == plan_arm; }
  /// For good: the contest ends.
  bool is_basics() const {
    return contest.standings().is_settled() && contest.standings().best() == basic_arm;
  }
  /// A timed exchange has ended. Where it was the last of its round, tells the others, without waiting for them.
  PetscErrorCode add(MPI_Comm comm, Arm arm, double elapsed_s);
  /// Waits for the report that is due, if one is. Collective.
  PetscErrorCode hear();

 private:
  std::vector<double> reported_, heard_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// An exchange, as it begins. Memory may differ from rank to rank and from exchange to exchange.
struct Use {
  std::int64_t unit_bytes;
  nuice_direction direction;
  PetscMemType at_roots, at_leaves;
};

/// The method of the next exchange.
struct Turn {
  Route* route = nullptr;
  Lane* lane = nullptr;  ///< Null: basic.
  bool is_timed = false;
};

/// The plan for units of about as many bytes: 2^size_class and less than twice as many. It is made for those of the first use.
///
///   state     exchanges go                    next state
///   counted   by basic, and are counted       planned or basics, at use options.planned_at
///   planned   as their routes' contests say   -
///   basics    by basic                        -
struct UnitPlan {
  enum class State : std::uint8_t { counted, planned, basics };
  int size_class = 0;
  std::int64_t unit_bytes = 0;
  PetscInt uses = 0;  ///< Of all duplicates, both ways.
  State state = State::counted;
  nuice_plan* plan = nullptr;  ///< Where it is planned.
  std::string executor, why;   ///< What carries them out; why it is that, or why basic does.
  std::string device;          ///< How messages leave and reach this rank's device; empty without one.
  double set_up_s = 0;         ///< Of this rank: packing, planning, binding the first lane.
  std::vector<std::unique_ptr<Route>> routes;

  UnitPlan() = default;
  UnitPlan(const UnitPlan&) = delete;
  UnitPlan& operator=(const UnitPlan&) = delete;
  Route& route(std::int64_t bytes, nuice_direction direction);
  ~UnitPlan() {
    routes.clear();
    nuice_plan_free(&plan);
  }
};

class Forest {
 public:
  /// Collective. All ranks get a lane, or none, which is idle. Costs a plan at use options.planned_at with units of a size, a binding
  /// where no lane is idle, now and then the wait for a report, otherwise next to nothing. A lane's buffers lie where the data of its
  /// first exchange does: then later ones need no agreement, since packing crosses from any memory into any.
  PetscErrorCode next_turn(PetscSF sf, const Options& options, const Use& use, Turn* turn);
  /// Whether basic carries out all exchanges in this direction for good, and has done so for some time.
  bool is_basics(nuice_direction direction) const;
  /// What -log_view counts of an exchange by a plan.
  void log_messages(const Route& route) const;
  const Packing& at_roots() const { return roots_.packing; }
  const Packing& at_leaves() const { return leaves_.packing; }
  /// From own roots to own leaves.
  const Packing& within() const { return within_; }
  const std::vector<std::unique_ptr<UnitPlan>>& plans() const { return plans_; }

 private:
  UnitPlan& plan_for(std::int64_t unit_bytes);
  PetscErrorCode set_up(PetscSF sf);
  PetscErrorCode decide(PetscSF sf, const Options& options, const Use& use, UnitPlan& units);
  PetscErrorCode make_plan(PetscSF sf, const Options& options, UnitPlan& units) const;
  PetscErrorCode turn_of(PetscSF sf, const Options& options, const Use& use, UnitPlan& units,
                         Turn* turn) const;
  PetscErrorCode idle_lane(PetscSF sf, const UnitPlan& units, const Use& use, Route& route,
                           Lane** lane) const;
  PetscErrorCode add_lane(PetscSF sf, const UnitPlan& units, const Use& use, Route& route) const;

  Side roots_, leaves_;
  Packing within_;
  bool is_set_up_ = false;
  std::vector<std::unique_ptr<UnitPlan>> plans_;
  int num_by_basic_ = 0;  ///< The last exchanges, which basic carries out for good; counted up to a limit.
};

}  // namespace nuice::petsc
