// SPDX-License-Identifier: BSD-3-Clause
// The functions in the rows of table.cpp.
#pragma once

#include "exchange/exec/run.hpp"

namespace nuice::mpi {

BoundRun bind_async(const Binding& binding);
BoundRun bind_phased(const Binding& binding);
BoundRun bind_barrier(const Binding& binding);
BoundRun bind_pairwise(const Binding& binding);
BoundRun bind_depend(const Binding& binding);

}  // namespace nuice::mpi
