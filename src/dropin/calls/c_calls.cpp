// SPDX-License-Identifier: BSD-3-Clause
// The calls that may be replaced, and those that begin, complete or free requests. Fortran's come here,
// too: its functions call those of C.
#include <mpi.h>

#include <utility>
#include <vector>

#include "dropin/calls/completing.hpp"
#include "dropin/calls/items.hpp"
#include "dropin/watch.hpp"
#include "run/entry.hpp"

using namespace nuice::dropin;

// NOLINTBEGIN(bugprone-macro-parentheses)
#define CALL NUICE_CALL
#define CALL_MPI NUICE_CALL
#define CALL_MPIX NUICE_CALL_X

#define A2A const void *sb, int sc, MPI_Datatype st, void *rb, int rc, MPI_Datatype rt, MPI_Comm comm
#define A2A_ARGS sb, sc, st, rb, rc, rt, comm
#define A2AV                                                                                                 \
  const void *sb, const int *scs, const int *sds, MPI_Datatype st, void *rb, const int *rcs, const int *rds, \
      MPI_Datatype rt, MPI_Comm comm
#define A2AV_ARGS sb, scs, sds, st, rb, rcs, rds, rt, comm
#define A2AW_OF(displacement)                                                                 \
  const void *sb, const int *scs, const displacement *sds, const MPI_Datatype *sts, void *rb, \
      const int *rcs, const displacement *rds, const MPI_Datatype *rts, MPI_Comm comm
#define A2AW A2AW_OF(int)
#define NA2AW A2AW_OF(MPI_Aint)
#define A2AW_ARGS sb, scs, sds, sts, rb, rcs, rds, rts, comm

// What becomes of it (items.hpp).
#define A2A_WITH(act) with_alltoall(A2A_ARGS, act)
#define A2AV_WITH(act) with_alltoallv(A2AV_ARGS, act)
#define A2AW_WITH(act) with_alltoallw(A2AW_ARGS, act)
#define NA2A_WITH(act) with_neighbor_alltoall(A2A_ARGS, act)
#define NA2AV_WITH(act) with_neighbor_alltoallv(A2AV_ARGS, act)
#define NA2AW_WITH(act) with_neighbor_alltoallw(A2AW_ARGS, act)

#define ALL_TO_ALL(CALL, way, Prefix)                                 \
  CALL(Alltoall, alltoall, A2A, A2A_ARGS, A2A_WITH, way, Prefix)      \
  CALL(Alltoallv, alltoallv, A2AV, A2AV_ARGS, A2AV_WITH, way, Prefix) \
  CALL(Alltoallw, alltoallw, A2AW, A2AW_ARGS, A2AW_WITH, way, Prefix)
#define NEIGHBOURS(CALL, way, Prefix)                                                    \
  CALL(Neighbor_alltoall, neighbor_alltoall, A2A, A2A_ARGS, NA2A_WITH, way, Prefix)      \
  CALL(Neighbor_alltoallv, neighbor_alltoallv, A2AV, A2AV_ARGS, NA2AV_WITH, way, Prefix) \
  CALL(Neighbor_alltoallw, neighbor_alltoallw, NA2AW, A2AW_ARGS, NA2AW_WITH, way, Prefix)

#define REPLACED(Name, name, PARAMETERS, ARGS, WITH, way, Prefix)           \
  CALL(Name, (PARAMETERS), {                                                \
    const auto by_mpi = [&] {                                               \
      const Leaving leaving;                                                \
      return next(ARGS);                                                    \
    };                                                                      \
    if (!watch.is_outermost()) return next(ARGS);                           \
    return replacer().is_on() ? WITH(way("MPI_" #Name, by_mpi)) : by_mpi(); \
  })

/// Of a call that gives a request: as the program means it, or into other memory, for another request. From
/// within its parameters.
#define BEGINNING(call, is_persistent, by_mpi)                                                              \
  Beginning {                                                                                               \
    call, request, is_persistent, [&] { return by_mpi(request); }, [&](void* receive, MPI_Request* other) { \
      std::swap(rb, receive);                                                                               \
      const int own = by_mpi(other);                                                                        \
      std::swap(rb, receive);                                                                               \
      return own;                                                                                           \
    }                                                                                                       \
  }

#define NONBLOCKING(Name, name, PARAMETERS, ARGS, WITH, way, Prefix)                  \
  CALL(I##name, (PARAMETERS, MPI_Request * request), {                                \
    const auto by_mpi = [&](MPI_Request* to) { return next(ARGS, to); };              \
    const auto how = BEGINNING("MPI_I" #name, false, by_mpi);                         \
    return replacer().is_on() && watch.is_outermost() ? WITH(way(how)) : how.leave(); \
  })

#define PERSISTENT(Name, name, PARAMETERS, ARGS, WITH, way, Prefix)                   \
  CALL_##Prefix(Name##_init, (PARAMETERS, MPI_Info info, MPI_Request * request), {    \
    const auto by_mpi = [&](MPI_Request* to) { return next(ARGS, info, to); };        \
    const auto how = BEGINNING(#Prefix "_" #Name "_init", true, by_mpi);              \
    return replacer().is_on() && watch.is_outermost() ? WITH(way(how)) : how.leave(); \
  })
ALL_TO_ALL(REPLACED, blocking, MPI)
NEIGHBOURS(REPLACED, blocking_neighbours, MPI)
ALL_TO_ALL(NONBLOCKING, begun, MPI)
NEIGHBOURS(NONBLOCKING, begun_neighbours, MPI)
// MPI 4, and Open MPI from 5 on. Before that Open MPI calls them MPIX_.
ALL_TO_ALL(PERSISTENT, begun, MPI)
NEIGHBOURS(PERSISTENT, begun_neighbours, MPI)
ALL_TO_ALL(PERSISTENT, begun, MPIX)
NEIGHBOURS(PERSISTENT, begun_neighbours, MPIX)

// --- Communicators with neighbourhoods ---------------------------------------------------------------------------------

#define CART MPI_Comm comm, int dims, const int sizes[], const int periods[], int reorder
#define CART_ARGS comm, dims, sizes, periods, reorder
#define GRAPH MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder
#define GRAPH_ARGS comm, nodes, index, edges, reorder
#define DIST_GRAPH                                                                                  \
  MPI_Comm comm, int n, const int from[], const int degrees[], const int to[], const int weights[], \
      MPI_Info info, int reorder
#define DIST_GRAPH_ARGS comm, n, from, degrees, to, weights, info, reorder
#define DIST_GRAPH_ADJACENT                                                                 \
  MPI_Comm comm, int in, const int from[], const int in_weights[], int out, const int to[], \
      const int out_weights[], MPI_Info info, int reorder
#define DIST_GRAPH_ADJACENT_ARGS comm, in, from, in_weights, out, to, out_weights, info, reorder
#define CART_SUB MPI_Comm comm, const int remain_dims[]
#define CART_SUB_ARGS comm, remain_dims

#define WITH_NEIGHBOURS(Name, kind, PARAMETERS, ARGS)                                                 \
  CALL(Name, (PARAMETERS, MPI_Comm * made), {                                                         \
    if (!watch.is_outermost() || !replacer().is_on()) return next(ARGS, made);                        \
    const auto by_mpi = [&] {                                                                         \
      const Leaving leaving;                                                                          \
      return next(ARGS, made);                                                                        \
    };                                                                                                \
    const int code = by_mpi();                                                                        \
    return code == MPI_SUCCESS ? replacer().begin_neighbours("MPI_" #Name, kind, comm, *made) : code; \
  })

WITH_NEIGHBOURS(Cart_create, MPI_CART, CART, CART_ARGS)
WITH_NEIGHBOURS(Cart_sub, MPI_CART, CART_SUB, CART_SUB_ARGS)
WITH_NEIGHBOURS(Graph_create, MPI_GRAPH, GRAPH, GRAPH_ARGS)
WITH_NEIGHBOURS(Dist_graph_create, MPI_DIST_GRAPH, DIST_GRAPH, DIST_GRAPH_ARGS)
WITH_NEIGHBOURS(Dist_graph_create_adjacent, MPI_DIST_GRAPH, DIST_GRAPH_ADJACENT, DIST_GRAPH_ADJACENT_ARGS)

#define FREEING(Name)                                                                       \
  CALL(Name, (MPI_Comm * comm), {                                                           \
    if (!watch.is_outermost() || !replacer().is_on() || comm == nullptr) return next(comm); \
    const Leaving leaving;                                                                  \
    replacer().free(*comm);                                                                 \
    return next(comm);                                                                      \
  })
FREEING(Comm_free)
FREEING(Comm_disconnect)

// --- Requests ---------------------------------------------------------------------------------------------------------

namespace {

Awaited awaited(const Watch& watch, int count, const MPI_Request* requests) {
  return Awaited(watch.is_outermost() && requests != nullptr ? count : 0,
                 [requests](int i) { return requests[i]; });
}
int as_it_is(int, int code) { return code; }
auto in_statuses(MPI_Status* statuses) {
  return [statuses](int i, int code) {
    if (statuses != MPI_STATUSES_IGNORE) statuses[i].MPI_ERROR = code;
    return MPI_ERR_IN_STATUS;
  };
}
void look(const Watch& watch) {
  if (watch.is_outermost() && background().any()) background().look();
}

}  // namespace

CALL(Start, (MPI_Request * request), {
  const int code = next(request);
  return code == MPI_SUCCESS && watch.is_outermost() ? background().start({request, 1}) : code;
})

CALL(Startall, (int count, MPI_Request requests[]), {
  const int code = next(count, requests);
  if (code != MPI_SUCCESS || count <= 0 || !watch.is_outermost()) return code;
  return background().start({requests, static_cast<std::size_t>(count)});
})

CALL(Request_free, (MPI_Request * request), {
  if (watch.is_outermost() && background().knows_any() && request != nullptr) {
    if (!background().may_be_freed(*request)) return told_handler(nuice::run::world(), MPI_ERR_REQUEST);
    background().forget(*request);
  }
  return next(request);
})

/// MPI allows it for no collective; of the token it would do something else.
CALL(Cancel, (MPI_Request * request), {
  if (watch.is_outermost() && background().knows_any() && request != nullptr && background().has(*request))
    return told_handler(nuice::run::world(), MPI_ERR_REQUEST);
  return next(request);
})

CALL(Wait, (MPI_Request * request, MPI_Status* status), {
  Awaited ours = awaited(watch, 1, request);
  const auto test = [&](bool& is_done) {
    int flag = 0;
    const int code = PMPI_Test(request, &flag, status);
    is_done = flag != 0;
    return code;
  };
  const int code = ours.until(test, [&] { return next(request, status); });
  return ours.verdict(code, 1, nullptr, as_it_is);
})

CALL(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), {
  Awaited ours = awaited(watch, count, requests);
  const auto test = [&](bool& is_done) {
    int flag = 0;
    const int code = PMPI_Testall(count, requests, &flag, statuses);
    is_done = flag != 0;
    return code;
  };
  const int code = ours.until(test, [&] { return next(count, requests, statuses); });
  return ours.verdict(code, count, nullptr, in_statuses(statuses));
})

CALL(Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status), {
  Awaited ours = awaited(watch, count, requests);
  const auto test = [&](bool& is_done) {
    int flag = 0;
    const int code = PMPI_Testany(count, requests, index, &flag, status);
    is_done = flag != 0;
    return code;
  };
  const int code = ours.until(test, [&] { return next(count, requests, index, status); });
  return ours.verdict(code, 1, index, as_it_is);
})

CALL(Waitsome, (int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]), {
  Awaited ours = awaited(watch, count, requests);
  const auto test = [&](bool& is_done) {
    const int code = PMPI_Testsome(count, requests, done, indices, statuses);
    is_done = *done != 0;  // or undefined: none is active
    return code;
  };
  const int code = ours.until(test, [&] { return next(count, requests, done, indices, statuses); });
  return ours.verdict(code, *done, indices, in_statuses(statuses));
})

CALL(Test, (MPI_Request * request, int* flag, MPI_Status* status), {
  const Awaited ours = awaited(watch, 1, request);
  look(watch);
  const int code = next(request, flag, status);
  return *flag != 0 ? ours.verdict(code, 1, nullptr, as_it_is) : code;
})

CALL(Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]), {
  const Awaited ours = awaited(watch, count, requests);
  look(watch);
  const int code = next(count, requests, flag, statuses);
  return *flag != 0 ? ours.verdict(code, count, nullptr, in_statuses(statuses)) : code;
})

CALL(Testany, (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status), {
  const Awaited ours = awaited(watch, count, requests);
  look(watch);
  const int code = next(count, requests, index, flag, status);
  return *flag != 0 ? ours.verdict(code, 1, index, as_it_is) : code;
})

CALL(Testsome, (int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]), {
  const Awaited ours = awaited(watch, count, requests);
  look(watch);
  const int code = next(count, requests, done, indices, statuses);
  return ours.verdict(code, *done, indices, in_statuses(statuses));
})

// --- Begin and end ----------------------------------------------------------------------------------------------------

CALL(Init, (int* argc, char*** argv), {
  const int code = next(argc, argv);
  if (code == MPI_SUCCESS && watch.is_outermost()) replacer().begin();
  return code;
})

CALL(Init_thread, (int* argc, char*** argv, int required, int* provided), {
  const int code = next(argc, argv, required, provided);
  if (code == MPI_SUCCESS && watch.is_outermost()) replacer().begin();
  return code;
})

/// From here on MPI does everything, in the program's attribute functions, too.
CALL(Finalize, (), {
  if (watch.is_outermost()) replacer().end();
  return next();
})
// NOLINTEND(bugprone-macro-parentheses)
