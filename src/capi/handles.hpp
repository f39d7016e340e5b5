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
