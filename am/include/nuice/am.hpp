// SPDX-License-Identifier: BSD-3-Clause
// Active messages and scheduling on the fly, for any transport. For the parts that need MPI see
// <nuice/mpi/am.hpp> and <nuice/mpi/drs.hpp>.
#pragma once

#include "nuice/am/coalescer.hpp"
#include "nuice/am/drs.hpp"
#include "nuice/am/endpoint.hpp"
#include "nuice/am/handler.hpp"
#include "nuice/am/host_relay.hpp"
#include "nuice/am/level_sync.hpp"
#include "nuice/am/loopback.hpp"
#include "nuice/am/port.hpp"
#include "nuice/am/progress.hpp"
#include "nuice/am/transport.hpp"
