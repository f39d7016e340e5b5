// SPDX-License-Identifier: BSD-3-Clause
// The runs of nuice-lee.
#pragma once

#include <mpi.h>

#include <vector>

#include "lee/options.hpp"
#include "lee/report.hpp"

namespace nuice::lee {

/// On one rank: all nets of all mazes, reps times. Fills report.routes and report.sequential.
void run_sequential(const std::vector<Maze>& mazes, const Options& options, Report& report);

/// Collective over comm. write: writes --distances and --grid on rank 0 too.
Result run_case(MPI_Comm comm, const std::vector<Maze>& mazes, const Options& options, const Case& what,
                const Report& report, bool write);

}  // namespace nuice::lee
