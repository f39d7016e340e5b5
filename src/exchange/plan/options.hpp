// SPDX-License-Identifier: BSD-3-Clause
// What all ranks must agree on before a plan is made.
#pragma once

#include "mpi/communicator.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::mpi {

/// Collective. Throws Error mismatch, on all ranks, with the option, two ranks and both their values, if the
/// options of some rank are not those of rank 0.
void require_equal_options(const Communicator& comm, const PlanOptions& mine);

/// Not collective, but the same on all ranks once the options are equal. Does not look at the scheduler's
/// name.
/// Throws Error invalid_argument.
void check_options(const PlanOptions& options);

}  // namespace nuice::mpi
