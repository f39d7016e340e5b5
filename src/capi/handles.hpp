// SPDX-License-Identifier: BSD-3-Clause
// What the handles that need MPI hold, and how what is wrong on one rank becomes an error of all.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "capi/guard.hpp"
#include "nuice/core/outcome.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/mpi/halo.hpp"
#include "nuice/mpi/plan.hpp"
#include "nuice/nuice.h"

struct nuice_plan {
  nuice::mpi::Plan plan;
  int rank = 0;              // in its communicator
  mutable std::string text;  // what was handed out last
};

struct nuice_halo {
  nuice::mpi::Halo halo;
  std::vector<nuice_wire> wires = {};  // of the first fields, unchecked
};

struct nuice_exchange {
  std::variant<nuice::mpi::Exchange, nuice::mpi::HaloExchange> bound;
  // As they were when they were asked for last.
  mutable std::string executor = {};
  mutable std::string shared_memory = {};
  mutable std::string methods = {};
  mutable std::string device = {};
  mutable std::atomic<bool> is_in_call = false;
};

namespace nuice::capi {

/// The handle of what was bound, of a plan or of a halo.
template <typename Bound>
void keep(nuice_exchange** exchange, Bound&& bound) {
  std::string executor = bound.info().executor;
  *exchange = new nuice_exchange{std::forward<Bound>(bound), std::move(executor)};
}

/// Between MPI_Init and MPI_Finalize: elsewhere MPI ends the program at almost any call.
bool is_mpi_up();

/// Runs the step of a function that may talk to MPI. A process that was forked from one that has plans must not: what it would
/// send and receive is its parent's. Then the step does not run, and the status is state.
void require_own_process();
template <typename Step>
int guarded_mpi(Step&& step) noexcept {
  return guarded([&] {
    require_own_process();
    std::forward<Step>(step)();
  });
}

/// A call with an exchange, of which there is one at a time: another thread's would take its messages from it.
class Call {
 public:
  /// Throws Error state where another thread is in one.
  explicit Call(const nuice_exchange& exchange) : exchange_(exchange) {
    if (exchange_.is_in_call.exchange(true, std::memory_order_acquire))
      throw Error(ErrorCode::state, "another thread is in a call with this exchange");
  }
  ~Call() { exchange_.is_in_call.store(false, std::memory_order_release); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  const nuice_exchange& exchange_;
};

/// Handles that Fortran and others give; without MPI none, which is refused where they are used.
MPI_Comm comm_of(nuice_fint handle);
MPI_Datatype type_of(nuice_fint handle);
MPI_Op op_of(nuice_fint handle);

/// An argument that makes no sense on this rank of a collective call that binds a plan or a halo: all ranks hear what it was.
template <typename Held, typename Check>
void check_for_all(Held& held, Check&& check) {
  if (const Outcome wrong = attempt(0, std::forward<Check>(check))) held.refuse(*wrong);
}

struct Place {
  int rank = 0;
  int num_ranks = 1;
};
/// In a communicator that may be none yet: what makes plans says so.
Place place_in(MPI_Comm comm);

/// From text, or with the fault that it has.
mpi::PlanOptions options_of(const char* text);

/// Looks at this rank's arguments of a collective call. What it throws is kept, for the ranks to agree on, with this rank's name:
/// the others hear of it too.
template <typename Step>
void note(int rank, mpi::PlanOptions& options, Step&& step) {
  Outcome wrong = attempt(rank, [&] {
    try {
      std::forward<Step>(step)();
    } catch (const Error& error) {
      throw Error(error.code(), "rank " + std::to_string(rank) + ": " + error.what());
    }
  });
  if (!options.fault) options.fault = std::move(wrong);
}

/// Frees a handle that holds something of MPI's.
template <typename Object>
int free_own(Object** handle) noexcept {
  const int status = guarded(require_own_process);
  return status == NUICE_OK ? free_handle(handle) : status;
}

}  // namespace nuice::capi
