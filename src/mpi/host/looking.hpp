// SPDX-License-Identifier: BSD-3-Clause
// How a rank waits in memory that it shares with others of its host.
#pragma once

#include <thread>

#include "core/support/pause.hpp"

namespace nuice::mpi {

/// Looks from one call of MPI to the next: others may wait for a message of the program's that only this rank's MPI can
/// send on, and MPI hears of deaths. Not every time, as a call takes as long as many looks.
inline constexpr unsigned looks_per_progress = 64;
/// Looks of a rank with a core of its own before it offers the core to others or sleeps: about the 10 us that going to
/// sleep and waking up takes.
inline constexpr unsigned looks_before_yield = 4096;

/// Between two looks. tests_mpi: the rank calls MPI in between, which gives the core away where others need it.
inline void wait_for_a_look(unsigned looks, bool is_oversubscribed, bool tests_mpi) {
  if (is_oversubscribed ? !tests_mpi : looks % looks_before_yield == 0)
    std::this_thread::yield();
  else
    pause_briefly();
}

}  // namespace nuice::mpi
