// SPDX-License-Identifier: BSD-3-Clause
// Includes the whole exchange library: nuice/nuice.hpp, which needs no MPI, and plans, exchanges and halos on
// MPI.
#pragma once

#include "nuice/mpi/agree.hpp"
#include "nuice/mpi/alltoallv.hpp"
#include "nuice/mpi/buffers.hpp"
#include "nuice/mpi/discover.hpp"
#include "nuice/mpi/exchange.hpp"
#include "nuice/mpi/exchanger.hpp"
#include "nuice/mpi/halo.hpp"
#include "nuice/mpi/halo_field.hpp"
#include "nuice/mpi/observer.hpp"
#include "nuice/mpi/options.hpp"
#include "nuice/mpi/ownership.hpp"
#include "nuice/mpi/plan.hpp"
#include "nuice/mpi/several.hpp"
#include "nuice/mpi/sparse_alltoallv.hpp"
#include "nuice/nuice.hpp"
