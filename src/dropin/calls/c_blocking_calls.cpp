// SPDX-License-Identifier: BSD-3-Clause
// What C programs may block in, and what they look with whether they would.
#include <mpi.h>

#include "dropin/background.hpp"
#include "dropin/calls/blocking_calls.hpp"
#include "dropin/replace.hpp"
#include "dropin/watch.hpp"
#include "run/entry.hpp"

using nuice::dropin::background;
using nuice::dropin::Leaving;
using nuice::dropin::replacer;
using nuice::dropin::Watch;

// NOLINTBEGIN(bugprone-macro-parentheses)
#define CALL NUICE_CALL
#define BLOCKING(Name, PARAMETERS, ARGS)         \
  CALL(Name, PARAMETERS, {                       \
    if (!watch.is_outermost()) return next ARGS; \
    const Leaving leaving;                       \
    return next ARGS;                            \
  })
#define COLLECTIVE(Name, PARAMETERS, ARGS)       \
  CALL(Name, PARAMETERS, {                       \
    if (!watch.is_outermost()) return next ARGS; \
    replacer().reach(comm);                      \
    const Leaving leaving;                       \
    return next ARGS;                            \
  })
#define LOOKING(Name, PARAMETERS, ARGS)                                  \
  CALL(Name, PARAMETERS, {                                               \
    if (watch.is_outermost() && background().any()) background().look(); \
    return next ARGS;                                                    \
  })

namespace usual {  // in which functions of C keep their names
using Count = int;
using Displacement = int;
COUNTED_COLLECTIVE_CALLS(COLLECTIVE)
OTHER_COLLECTIVE_CALLS(COLLECTIVE)
COUNTED_BLOCKING_CALLS(BLOCKING)
OTHER_BLOCKING_CALLS(BLOCKING)
}  // namespace usual

#if MPI_VERSION >= 4
namespace large {
using Count = MPI_Count;
using Displacement = MPI_Aint;
#define LARGE_BLOCKING(Name, PARAMETERS, ARGS) BLOCKING(Name##_c, PARAMETERS, ARGS)
#define LARGE_COLLECTIVE(Name, PARAMETERS, ARGS) COLLECTIVE(Name##_c, PARAMETERS, ARGS)
COUNTED_COLLECTIVE_CALLS(LARGE_COLLECTIVE)
COUNTED_BLOCKING_CALLS(LARGE_BLOCKING)
#define LARGE_A2A (OUT_BUFFER, IN_BUFFER, MPI_Comm comm)
#define LARGE_A2AV                                                                                         \
  (const void* sb, const Count* scs, const Displacement* sds, MPI_Datatype st, void* rb, const Count* rcs, \
   const Displacement* rds, MPI_Datatype rt, MPI_Comm comm)
#define LARGE_A2AW                                                                               \
  (const void* sb, const Count* scs, const Displacement* sds, const MPI_Datatype* sts, void* rb, \
   const Count* rcs, const Displacement* rds, const MPI_Datatype* rts, MPI_Comm comm)
BLOCKING(Alltoall_c, LARGE_A2A, (sb, sc, st, rb, rc, rt, comm))
BLOCKING(Alltoallv_c, LARGE_A2AV, (sb, scs, sds, st, rb, rcs, rds, rt, comm))
BLOCKING(Alltoallw_c, LARGE_A2AW, (sb, scs, sds, sts, rb, rcs, rds, rts, comm))
BLOCKING(Neighbor_alltoall_c, LARGE_A2A, (sb, sc, st, rb, rc, rt, comm))
BLOCKING(Neighbor_alltoallv_c, LARGE_A2AV, (sb, scs, sds, st, rb, rcs, rds, rt, comm))
BLOCKING(Neighbor_alltoallw_c, LARGE_A2AW, (sb, scs, sds, sts, rb, rcs, rds, rts, comm))
}  // namespace large
#endif

LOOKING(Iprobe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status),
        (from, tag, comm, flag, status))
LOOKING(Improbe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status),
        (from, tag, comm, flag, message, status))
LOOKING(Win_test, (MPI_Win win, int* flag), (win, flag))
LOOKING(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status), (request, flag, status))
// NOLINTEND(bugprone-macro-parentheses)
