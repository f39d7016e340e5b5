// SPDX-License-Identifier: BSD-3-Clause
// The contents of the handles that need MPI, and functions that make an error on one rank an error on all
// ranks.
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
  int rank = 0;              // in the plan's communicator
  mutable std::string text;  // the string returned last
};

struct nuice_halo {
  nuice::mpi::Halo halo;
  std::vector<nuice_wire> wires = {};  // of the first fields, unchecked
};

struct nuice_exchange {
  std::variant<nuice::mpi::Exchange, nuice::mpi::HaloExchange> bound;
  // the strings returned last
  mutable std::string executor = {};
  mutable std::string shared_memory = {};
  mutable std::string methods = {};
  mutable std::string device = {};
  mutable std::atomic<bool> is_in_call = false;
};

namespace nuice::capi {

/// Stores in *exchange a new handle of a bound plan or halo.
template <typename Bound>
void keep(nuice_exchange** exchange, Bound&& bound) {
  std::string executor = bound.info().executor;
  *exchange = new nuice_exchange{std::forward<Bound>(bound), std::move(executor)};
}

/// Returns whether MPI may be called, that is, between MPI_Init and MPI_Finalize. At other times MPI ends the
/// program at almost any call.
bool is_mpi_up();

/// Throws Error `state` in a process that was forked from a process with plans, because its MPI calls would
/// send and receive messages of the parent.
void require_own_process();
/// Runs the step of a function that may call MPI, after require_own_process(). Returns the status.
template <typename Step>
int guarded_mpi(Step&& step) noexcept {
  return guarded([&] {
    require_own_process();
    std::forward<Step>(step)();
  });
}

/// A call with an exchange. Only one call may be active at a time, because a second call in another thread
/// would take messages of the first.
class Call {
 public:
  /// Throws Error `state` if another thread is in a call.
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

/// Convert handles from Fortran and other languages. Before MPI_Init and after MPI_Finalize they return a
/// null handle, which later checks refuse.
MPI_Comm comm_of(nuice_fint handle);
MPI_Datatype type_of(nuice_fint handle);
MPI_Op op_of(nuice_fint handle);

/// Checks an argument of a collective call that binds a plan or a halo. An error is reported on all ranks.
template <typename Held, typename Check>
void check_for_all(Held& held, Check&& check) {
  if (const Outcome wrong = attempt(0, std::forward<Check>(check))) held.refuse(*wrong);
}

struct Place {
  int rank = 0;
  int num_ranks = 1;
};
/// Returns the rank and size of a communicator. The communicator may be null; the function that makes a plan
/// reports this.
Place place_in(MPI_Comm comm);

/// Parses options. If the text has an error, the error is in the result's `fault`.
mpi::PlanOptions options_of(const char* text);

/// Checks this rank's arguments of a collective call. An error is kept in options.fault with this rank's
/// name. The ranks then agree on it, and all of them report it.
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

/// Frees a handle whose object uses MPI.
template <typename Object>
int free_own(Object** handle) noexcept {
  const int status = guarded(require_own_process);
  return status == NUICE_OK ? free_handle(handle) : status;
}

}  // namespace nuice::capi
