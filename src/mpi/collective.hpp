// SPDX-License-Identifier: BSD-3-Clause
// Collective operations that end when a rank dies or does not come, for planning and binding: as MPI's own, but on a
// communicator that watches (communicator.hpp) the rank looks for deaths and at its watchdog while it waits.
//
//   broadcast(comm, &count, 1, MPI_INT, 0);
//
// Errors: mpi with the names of the dead where MPI tells of them; timeout after watchdog_s without an end, with the ranks
// that do not answer. The communicator is then given up: MPI may still be at work on it, and on copies of what was to be
// sent and received, never on the caller's memory.
// Cost: where nothing is watched, that of MPI's operation; else a copy of what is sent and received, too.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// in may be MPI_IN_PLACE.
void all_reduce(const Communicator& comm, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op);
void broadcast(const Communicator& comm, void* data, int count, MPI_Datatype type, Rank root);
/// `count` elements of each rank.
void all_gather(const Communicator& comm, const void* in, int count, MPI_Datatype type, void* out);
/// counts[r] elements of rank r, to begins[r]; begins has the end of the last rank's too.
void all_gather_v(const Communicator& comm, const void* in, MPI_Datatype type, void* out,
                  std::span<const int> counts, std::span<const int> begins);
/// The same to one rank only; out, counts and begins matter there.
void gather(const Communicator& comm, const void* in, int count, MPI_Datatype type, void* out, Rank root);
void gather_v(const Communicator& comm, const void* in, int count, MPI_Datatype type, void* out,
              std::span<const int> counts, std::span<const int> begins, Rank root);
/// Of the sum over all ranks, element r to rank r.
void reduce_scatter(const Communicator& comm, const void* in, void* out, MPI_Datatype type, MPI_Op op);
/// Of one message. The memory is the caller's again, whatever happens.
void receive(const Communicator& comm, void* data, int count, MPI_Datatype type, Rank source, int tag,
             MPI_Status* status = MPI_STATUS_IGNORE);

}  // namespace nuice::mpi
