// SPDX-License-Identifier: BSD-3-Clause
// Everything that needs no MPI. Programs that exchange include <nuice/mpi.hpp> as well.
#pragma once

#include "nuice/advise.hpp"
#include "nuice/bounds.hpp"
#include "nuice/broadcast.hpp"
#include "nuice/broadcaster.hpp"
#include "nuice/check.hpp"
#include "nuice/comm_matrix.hpp"
#include "nuice/error.hpp"
#include "nuice/exchange.hpp"
#include "nuice/machine.hpp"
#include "nuice/networks.hpp"
#include "nuice/patterns.hpp"
#include "nuice/phase_table.hpp"
#include "nuice/random.hpp"
#include "nuice/schedule.hpp"
#include "nuice/scheduler.hpp"
#include "nuice/simulate.hpp"
#include "nuice/text_io.hpp"
#include "nuice/topology.hpp"
#include "nuice/types.hpp"
#include "nuice/update.hpp"
