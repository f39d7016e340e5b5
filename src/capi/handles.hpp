// SPDX-License-Identifier: BSD-3-Clause
// What the handles that need MPI hold, and how what is wrong on one rank becomes an error of all.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "nuice/core/outcome.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/mpi/halo.hpp"
#include "nuice/mpi/plan.hpp"
#include "nuice/nuice.h"

struct nuice_plan {
  nuice::mpi::Plan plan;
  mutable std::string text;  // what was handed out last
};

struct nuice_halo {
  nuice::mpi::Halo halo;
};

struct nuice_exchange {
  std::variant<nuice::mpi::Exchange, nuice::mpi::HaloExchange> bound;
  // As they were when they were asked for last.
  mutable std::string executor = {};
  mutable std::string why = {};
  mutable std::string methods = {};
};

namespace nuice::capi {

/// Between MPI_Init and MPI_Finalize: elsewhere MPI ends the program at almost any call.
bool is_mpi_up();

/// Handles that Fortran and others give; without MPI none, which is refused where they are used.
MPI_Comm comm_of(nuice_fint handle);
MPI_Datatype type_of(nuice_fint handle);
MPI_Op op_of(nuice_fint handle);

/// An argument that makes no sense on this rank of a collective call that binds: bind(false) gives all ranks this rank's buffers,
/// bind(true) something that it must refuse, so that the others hear of it; this rank says what it was.
template <typename Check, typename Bind>
auto bind_on_all(Check&& check, Bind&& bind) {
  const Outcome wrong = attempt(0, std::forward<Check>(check));
  try {
    auto bound = bind(wrong.has_value());
    if (!wrong) return bound;
  } catch (const Error& error) {
    if (!wrong || error.code() == ErrorCode::state) throw;
  }
  throw *wrong;
}

/// Looks at this rank's arguments of a collective call. What it throws is kept, for the ranks to agree on.
template <typename Step>
void note(mpi::PlanOptions& options, Step&& step) {
  if (Outcome wrong = attempt(0, std::forward<Step>(step)); wrong && !options.fault)
    options.fault = std::move(wrong);
}

struct Place {
  int rank = 0;
  int num_ranks = 1;
};
/// In a communicator that may be none yet: what makes plans says so.
Place place_in(MPI_Comm comm);

/// From text, or with the fault that it has.
mpi::PlanOptions options_of(const char* text);

}  // namespace nuice::capi
