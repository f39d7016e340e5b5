// SPDX-License-Identifier: BSD-3-Clause
// How a rank waits in memory that it shares with others of its host.
#pragma once

namespace nuice::mpi {

/// Looks from one call of MPI to the next: others may wait for a message of the program's that only this rank's MPI can
/// send on, and MPI hears of deaths. Not every time, as a call takes as long as many looks.
inline constexpr unsigned looks_per_progress = 64;
/// Looks of a rank with a core of its own before it offers the core to others or sleeps: about the 10 us that going to
/// sleep and waking up takes.
inline constexpr unsigned looks_before_yield = 4096;

}  // namespace nuice::mpi
