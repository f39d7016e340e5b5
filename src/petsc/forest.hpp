// SPDX-License-Identifier: BSD-3-Clause
// The state that all duplicates of a star forest share: the ranks that exchange, the packing of both sides,
// the plans by unit size and, for each route, the contest between plan and basic, and the lanes. A lane is a
// plan bound to buffers; each exchange that is active at the same time needs its own.
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

/// The other ranks to which this rank's roots (or its leaves) are connected, and the layout of the buffer for
/// their messages. Partner i has edges[i] places, beginning at begins[i].
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

/// The exchanges of units of unit_bytes in one direction, after a plan was made for them.
struct Route {
  std::int64_t unit_bytes = 0;
  nuice_direction direction = NUICE_FORWARDS;  ///< Forwards: from roots to leaves.
  std::vector<std::unique_ptr<Lane>> lanes;
  exchange::Contest contest{2};  // starts with basic

  Route() = default;
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;
  /// Waits for the last report, which all ranks have sent already.
  ~Route() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

  bool is_plans() const { return contest.standings().is_settled() && contest.standings().best() == plan_arm; }
  /// Whether the contest has ended, and basic is kept for good.
  bool is_basics() const {
    return contest.standings().is_settled() && contest.standings().best() == basic_arm;
  }
  /// Adds the time of an exchange. After the last exchange of a round, starts a report to the other ranks,
  /// but does not wait for it.
  PetscErrorCode add(MPI_Comm comm, Arm arm, double elapsed_s);
  /// Collective. Waits for the pending report, if there is one.
  PetscErrorCode hear();

 private:
  std::vector<double> reported_, heard_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// An exchange that begins. The kind of memory may differ between ranks and between exchanges.
struct Use {
  std::int64_t unit_bytes;
  nuice_direction direction;
  PetscMemType at_roots, at_leaves;
};

/// The method of the next exchange.
struct Turn {
  Route* route = nullptr;
  Lane* lane = nullptr;  ///< Null if basic carries it out.
  bool is_timed = false;
};

/// A plan for units of similar size: from 2^size_class bytes to less than twice as many. The plan is made for
/// the unit size of the first use.
///
///   state     exchanges are carried out by   next state
///   counted   basic, and are counted         planned or basics, at use options.planned_at
///   planned   the winner of their route      -
///   basics    basic                          -
struct UnitPlan {
  enum class State : std::uint8_t { counted, planned, basics };
  int size_class = 0;
  std::int64_t unit_bytes = 0;
  PetscInt uses = 0;  ///< The number of exchanges of the forest and all its duplicates, in both directions.
  State state = State::counted;
  nuice_plan* plan = nullptr;  ///< Set in state `planned`.
  std::string executor, why;   ///< The plan's executor, and why it or basic is used.
  std::string device;          ///< How messages leave and reach this rank's device; empty without a device.
  double set_up_s = 0;         ///< This rank's time for packing, planning and binding the first lane.
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
  /// Collective. Either all ranks get an idle lane, or no rank does. It makes a plan at use
  /// options.planned_at, binds if no lane is idle, and sometimes waits for a report. Otherwise it costs
  /// almost nothing. A lane's buffers are in the kind of memory that its first exchange used. Later exchanges
  /// need no agreement, because packing can copy between all kinds of memory.
  PetscErrorCode next_turn(PetscSF sf, const Options& options, const Use& use, Turn* turn);
  /// Whether basic carries out all exchanges in this direction for good, and has already carried out many.
  bool is_basics(nuice_direction direction) const;
  /// Adds the messages of a planned exchange to the counts of -log_view.
  void log_messages(const Route& route) const;
  const Packing& at_roots() const { return roots_.packing; }
  const Packing& at_leaves() const { return leaves_.packing; }
  /// Packing from this rank's roots to its own leaves.
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
  int num_by_basic_ = 0;  ///< The number of exchanges that were left to basic for good since the last other
                          ///< exchange. Counting stops at a limit.
};

}  // namespace nuice::petsc
