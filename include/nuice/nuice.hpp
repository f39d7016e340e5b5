// SPDX-License-Identifier: BSD-3-Clause
// Includes everything that needs no MPI. Programs that exchange over MPI include <nuice/mpi.hpp>, which
// includes this header.
//
//   nuice/core/   the matrix, schedules, their checker, networks, text formats
//   nuice/plan/   schedulers, machines, the simulator, the adviser
//   nuice/mpi/    all that needs MPI, in namespace nuice::mpi
#pragma once

#include "nuice/core/bounds.hpp"
#include "nuice/core/broadcast.hpp"
#include "nuice/core/check.hpp"
#include "nuice/core/check_pairs.hpp"
#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/dependencies.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/hosts.hpp"
#include "nuice/core/interrupt.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/core/patterns.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/core/random.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/core/text_io.hpp"
#include "nuice/core/topology.hpp"
#include "nuice/core/types.hpp"
#include "nuice/plan/advise.hpp"
#include "nuice/plan/broadcaster.hpp"
#include "nuice/plan/machine.hpp"
#include "nuice/plan/machine_sections.hpp"
#include "nuice/plan/packets.hpp"
#include "nuice/plan/rows.hpp"
#include "nuice/plan/scheduler.hpp"
#include "nuice/plan/serial_exchange.hpp"
#include "nuice/plan/simulate.hpp"
