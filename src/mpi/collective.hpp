// SPDX-License-Identifier: BSD-3-Clause
// Collective operations for planning and binding that end with an error if a rank dies or does not take part.
// They work like MPI's own, but on a communicator that watches (communicator.hpp) a waiting rank checks for
// deaths and for its watchdog's limit.
//
//   broadcast(comm, &count, 1, MPI_INT, 0);
//
// Errors: `mpi` with the names of dead ranks, if MPI reports deaths; `timeout` with the ranks that do not
// answer, if the operation has not ended after watchdog_s. The communicator is then given up: MPI may still
// use it and the internal copies of the data, but never the caller's memory. Cost: MPI's operation and, if
// the communicator watches, a copy of the sent and received data.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// `in` may be MPI_IN_PLACE.
void all_reduce(const Communicator& comm, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op);
void broadcast(const Communicator& comm, void* data, int count, MPI_Datatype type, Rank root);
/// Gathers `count` elements of each rank.
void all_gather(const Communicator& comm, const void* in, int count, MPI_Datatype type, void* out);
/// Gathers counts[r] elements from rank r, and places them at begins[r]. `begins` has one more entry: the end
/// of the last rank's elements.
void all_gather_v(const Communicator& comm, const void* in, MPI_Datatype type, void* out,
                  std::span<const int> counts, std::span<const int> begins);
/// Like all_gather() and all_gather_v(), but only rank `root` receives. Other ranks' out, counts and begins
/// are not used.
void gather(const Communicator& comm, const void* in, int count, MPI_Datatype type, void* out, Rank root);
void gather_v(const Communicator& comm, const void* in, int count, MPI_Datatype type, void* out,
              std::span<const int> counts, std::span<const int> begins, Rank root);
/// Adds up the vectors of all ranks, which have one element per rank. Rank r gets element r of the sum.
void reduce_scatter(const Communicator& comm, const void* in, void* out, MPI_Datatype type, MPI_Op op);
/// Receives one message. After it returns or throws, MPI no longer uses the memory.
void receive(const Communicator& comm, void* data, int count, MPI_Datatype type, Rank source, int tag,
             MPI_Status* status = MPI_STATUS_IGNORE);

}  // namespace nuice::mpi
