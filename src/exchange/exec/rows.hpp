// SPDX-License-Identifier: BSD-3-Clause
// The functions in the entries of table.cpp.
#pragma once

#include <memory>

#include "exchange/exec/run.hpp"

namespace nuice::mpi {

std::unique_ptr<Run> bind_async(const Binding& binding);
std::unique_ptr<Run> bind_phased(const Binding& binding);
std::unique_ptr<Run> bind_pairwise(const Binding& binding);
std::unique_ptr<Run> bind_depend(const Binding& binding);

}  // namespace nuice::mpi
