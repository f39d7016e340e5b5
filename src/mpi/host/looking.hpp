// SPDX-License-Identifier: BSD-3-Clause
// Polling of memory that a rank shares with other ranks of its host.
#pragma once

#include <thread>

#include "core/support/pause.hpp"

namespace nuice::mpi {

/// The number of polls between two calls of MPI. MPI must be called for two reasons: other ranks may wait for
/// a message of the program that only this rank's MPI can forward, and MPI learns of deaths only in calls. A
/// call takes as long as this number of polls, so it is not made after every poll.
inline constexpr unsigned looks_per_progress = 64;
/// The number of polls after which a rank with a core of its own yields the core or sleeps. They take about
/// 10 us, as long as falling asleep and waking up.
inline constexpr unsigned looks_before_yield = 4096;

/// Pauses between two polls. tests_mpi: whether the rank also calls MPI between polls; this yields the core
/// if there are more ranks than cores.
inline void wait_for_a_look(unsigned looks, bool is_oversubscribed, bool tests_mpi) {
  if (is_oversubscribed ? !tests_mpi : looks % looks_before_yield == 0)
    std::this_thread::yield();
  else
    pause_briefly();
}

}  // namespace nuice::mpi
