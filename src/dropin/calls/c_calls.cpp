// SPDX-License-Identifier: BSD-3-Clause
// The calls of C programs, one line each in the tables below: name, parameters, arguments, and the row that it sends.
#include <mpi.h>

#include <utility>
#include <vector>

#include "dropin/calls/completing.hpp"
#include "dropin/calls/items.hpp"
#include "dropin/calls/rows.hpp"
#include "dropin/record.hpp"

using namespace nuice::dropin;

// NOLINTBEGIN(bugprone-macro-parentheses)
#define EXPORTED extern "C" __attribute__((visibility("default")))

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

#define IN_PLACE (sb == MPI_IN_PLACE)
#define A2A_ROW all_equal(comm, IN_PLACE, sc, st, rc, rt)
#define A2AV_ROW all_vector(comm, IN_PLACE, scs, st, rcs, rt)
#define A2AW_ROW all_typed(comm, IN_PLACE ? rcs : scs, [&](int i) { return (IN_PLACE ? rts : sts)[i]; })
#define NA2A_ROW neighbours_equal(comm, sc, st)
#define NA2AV_ROW neighbours_typed(comm, scs, [&](int) { return st; })
#define NA2AW_ROW neighbours_typed(comm, scs, [&](int i) { return sts[i]; })

// What becomes of it (items.hpp).
#define A2A_WITH(act) with_alltoall(A2A_ARGS, act)
#define A2AV_WITH(act) with_alltoallv(A2AV_ARGS, act)
#define A2AW_WITH(act) \
  with_alltoallw(      \
      sb, scs, sds, [&](int i) { return sts[i]; }, rb, rcs, rds, [&](int i) { return rts[i]; }, comm, act)
#define NA2A_WITH(act) with_neighbor_alltoall(A2A_ARGS, act)
#define NA2AV_WITH(act) with_neighbor_alltoallv(A2AV_ARGS, act)
#define NA2AW_WITH(act)    \
  with_neighbor_alltoallw( \
      sb, scs, sds, [&](int i) { return sts[i]; }, rb, rcs, rds, [&](int i) { return rts[i]; }, comm, act)

#define ALL_TO_ALL(CALL, way, Prefix)                                           \
  CALL(Alltoall, alltoall, A2A, A2A_ARGS, A2A_ROW, A2A_WITH, way, Prefix)       \
  CALL(Alltoallv, alltoallv, A2AV, A2AV_ARGS, A2AV_ROW, A2AV_WITH, way, Prefix) \
  CALL(Alltoallw, alltoallw, A2AW, A2AW_ARGS, A2AW_ROW, A2AW_WITH, way, Prefix)
#define NEIGHBOURS(CALL, way, Prefix)                                                               \
  CALL(Neighbor_alltoall, neighbor_alltoall, A2A, A2A_ARGS, NA2A_ROW, NA2A_WITH, way, Prefix)       \
  CALL(Neighbor_alltoallv, neighbor_alltoallv, A2AV, A2AV_ARGS, NA2AV_ROW, NA2AV_WITH, way, Prefix) \
  CALL(Neighbor_alltoallw, neighbor_alltoallw, NA2AW, A2AW_ARGS, NA2AW_ROW, NA2AW_WITH, way, Prefix)

#define REPLACED(Name, name, PARAMETERS, ARGS, ROW, WITH, way, Prefix)                          \
  EXPORTED int MPI_##Name(PARAMETERS) {                                                         \
    Watch watch(__builtin_return_address(0));                                                   \
    const auto by_mpi = [&] {                                                                   \
      const Leaving leaving;                                                                    \
      return PMPI_##Name(ARGS);                                                                 \
    };                                                                                          \
    const bool is_on = replacer().is_on() && watch.is_outermost();                              \
    const int code = is_on ? WITH(way("MPI_" #Name, by_mpi)) : by_mpi();                        \
    if (watch.ended()) recorder().note("MPI_" #Name, comm, watch.from(), ROW, watch.seconds()); \
    return code;                                                                                \
  }

/// Of a call that gives a request: as the program means it, or into other memory, for another request. From within its parameters.
#define BEGINNING(call, is_persistent, by_mpi)                                                              \
  Beginning {                                                                                               \
    call, request, is_persistent, [&] { return by_mpi(request); }, [&](void* receive, MPI_Request* other) { \
      std::swap(rb, receive);                                                                               \
      const int own = by_mpi(other);                                                                        \
      std::swap(rb, receive);                                                                               \
      return own;                                                                                           \
    }                                                                                                       \
  }

#define NONBLOCKING(Name, name, PARAMETERS, ARGS, ROW, WITH, way, Prefix)                         \
  EXPORTED int MPI_I##name(PARAMETERS, MPI_Request* request) {                                    \
    Watch watch(__builtin_return_address(0));                                                     \
    const auto by_mpi = [&](MPI_Request* to) { return PMPI_I##name(ARGS, to); };                  \
    const auto how = BEGINNING("MPI_I" #name, false, by_mpi);                                     \
    const bool is_on = replacer().is_on() && watch.is_outermost();                                \
    const int code = is_on ? WITH(way(how)) : how.leave();                                        \
    if (watch.ended())                                                                            \
      recorder().note_started("MPI_I" #name, comm, watch.from(), ROW, watch.seconds(), *request); \
    return code;                                                                                  \
  }

#define PERSISTENT(Name, name, PARAMETERS, ARGS, ROW, WITH, way, Prefix)                               \
  extern "C" int P##Prefix##Name##_init(PARAMETERS, MPI_Info info, MPI_Request* request);              \
  EXPORTED int Prefix##Name##_init(PARAMETERS, MPI_Info info, MPI_Request* request) {                  \
    Watch watch(__builtin_return_address(0));                                                          \
    const auto by_mpi = [&](MPI_Request* to) { return P##Prefix##Name##_init(ARGS, info, to); };       \
    const auto how = BEGINNING(#Prefix #Name "_init", true, by_mpi);                                   \
    const bool is_on = replacer().is_on() && watch.is_outermost();                                     \
    const int code = is_on ? WITH(way(how)) : how.leave();                                             \
    if (watch.ended()) recorder().note_init(#Prefix #Name "_init", comm, watch.from(), ROW, *request); \
    return code;                                                                                       \
  }
ALL_TO_ALL(REPLACED, blocking, MPI_)
NEIGHBOURS(REPLACED, blocking_neighbours, MPI_)
ALL_TO_ALL(NONBLOCKING, begun, MPI_)
NEIGHBOURS(NONBLOCKING, begun_neighbours, MPI_)
// MPI 4, and Open MPI from 5 on. Before that Open MPI calls them MPIX_.
ALL_TO_ALL(PERSISTENT, begun, MPI_)
NEIGHBOURS(PERSISTENT, begun_neighbours, MPI_)
ALL_TO_ALL(PERSISTENT, begun, MPIX_)
NEIGHBOURS(PERSISTENT, begun_neighbours, MPIX_)

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

#define WITH_NEIGHBOURS(Name, PARAMETERS, ARGS)                    \
  EXPORTED int MPI_##Name(PARAMETERS, MPI_Comm* made) {            \
    const Watch watch(__builtin_return_address(0));                \
    const auto by_mpi = [&] {                                      \
      const Leaving leaving;                                       \
      return PMPI_##Name(ARGS, made);                              \
    };                                                             \
    const int code = by_mpi();                                     \
    const bool is_on = replacer().is_on() && watch.is_outermost(); \
    if (code != MPI_SUCCESS || !is_on) return code;                \
    return replacer().begin_neighbours("MPI_" #Name, comm, *made); \
  }

WITH_NEIGHBOURS(Cart_create, CART, CART_ARGS)
WITH_NEIGHBOURS(Cart_sub, CART_SUB, CART_SUB_ARGS)
WITH_NEIGHBOURS(Graph_create, GRAPH, GRAPH_ARGS)
WITH_NEIGHBOURS(Dist_graph_create, DIST_GRAPH, DIST_GRAPH_ARGS)
WITH_NEIGHBOURS(Dist_graph_create_adjacent, DIST_GRAPH_ADJACENT, DIST_GRAPH_ADJACENT_ARGS)

// --- Point to point ---------------------------------------------------------------------------------------------------

#define SEND const void *buffer, int count, MPI_Datatype type, int other, int tag, MPI_Comm comm
#define RECEIVE void *buffer, int count, MPI_Datatype type, int other, int tag, MPI_Comm comm
#define TRANSFER_ARGS buffer, count, type, other, tag, comm

#define TRANSFER(Name, PARAMETERS, destination)                                                      \
  EXPORTED int MPI_##Name(PARAMETERS, MPI_Request* request) {                                        \
    Watch watch(__builtin_return_address(0));                                                        \
    const int code = PMPI_##Name(TRANSFER_ARGS, request);                                            \
    if (watch.ended())                                                                               \
      recorder().note_transfer(comm, destination, count * size_of(type), watch.seconds(), *request); \
    return code;                                                                                     \
  }
#define TRANSFER_INIT(Name, PARAMETERS, destination)                                                      \
  EXPORTED int MPI_##Name(PARAMETERS, MPI_Request* request) {                                             \
    Watch watch(__builtin_return_address(0));                                                             \
    const int code = PMPI_##Name(TRANSFER_ARGS, request);                                                 \
    if (watch.ended()) recorder().note_transfer_init(comm, destination, count * size_of(type), *request); \
    return code;                                                                                          \
  }
#define BLOCKING_SEND(Name)                                                                           \
  EXPORTED int MPI_##Name(SEND) {                                                                     \
    Watch watch(__builtin_return_address(0));                                                         \
    const Leaving leaving;                                                                            \
    const int code = PMPI_##Name(TRANSFER_ARGS);                                                      \
    if (watch.ended()) recorder().note_blocking(comm, other, count * size_of(type), watch.seconds()); \
    return code;                                                                                      \
  }

TRANSFER(Isend, SEND, other)
TRANSFER(Issend, SEND, other)
TRANSFER(Irsend, SEND, other)
TRANSFER(Ibsend, SEND, other)
TRANSFER(Irecv, RECEIVE, MPI_PROC_NULL)
TRANSFER_INIT(Send_init, SEND, other)
TRANSFER_INIT(Ssend_init, SEND, other)
TRANSFER_INIT(Rsend_init, SEND, other)
TRANSFER_INIT(Bsend_init, SEND, other)
TRANSFER_INIT(Recv_init, RECEIVE, MPI_PROC_NULL)
BLOCKING_SEND(Send)
BLOCKING_SEND(Ssend)
BLOCKING_SEND(Rsend)
BLOCKING_SEND(Bsend)

EXPORTED int MPI_Recv(RECEIVE, MPI_Status* status) {
  Watch watch(__builtin_return_address(0));
  const Leaving leaving;
  const int code = PMPI_Recv(TRANSFER_ARGS, status);
  if (watch.ended()) recorder().note_blocking(comm, MPI_PROC_NULL, 0, watch.seconds());
  return code;
}

// --- Requests ---------------------------------------------------------------------------------------------------------

EXPORTED int MPI_Start(MPI_Request* request) {
  Watch watch(__builtin_return_address(0));
  const int code = PMPI_Start(request);
  return code == MPI_SUCCESS ? started(watch, {request, 1}) : code;
}

EXPORTED int MPI_Startall(int count, MPI_Request requests[]) {
  Watch watch(__builtin_return_address(0));
  const int code = PMPI_Startall(count, requests);
  if (code != MPI_SUCCESS || count <= 0) return code;
  return started(watch, {requests, static_cast<std::size_t>(count)});
}

EXPORTED int MPI_Request_free(MPI_Request* request) {
  Watch watch(__builtin_return_address(0));
  if (watch.ended() && recorder().waits_for_any()) recorder().forget(*request);
  if (background().knows_any()) background().forget(*request);
  return PMPI_Request_free(request);
}

/// MPI allows it for no collective; of the token it would do something else.
EXPORTED int MPI_Cancel(MPI_Request* request) {
  if (background().knows_any() && background().has(*request)) return told_handler(world(), MPI_ERR_REQUEST);
  return PMPI_Cancel(request);
}

namespace {

/// The handles as they are before the call, which takes away those that are complete.
std::vector<MPI_Request> kept(int count, const MPI_Request* requests) {
  if (!recorder().is_on() || !recorder().waits_for_any() || count <= 0) return {};
  return {requests, requests + count};
}

void complete(Watch& watch, const std::vector<MPI_Request>& requests) {
  if (watch.ended() && !requests.empty()) recorder().complete(requests, watch.from(), watch.seconds());
}

void complete_some(Watch& watch, const std::vector<MPI_Request>& requests, int count, const int* indices) {
  std::vector<MPI_Request> done;
  for (int i = 0; i < count && !requests.empty(); ++i)
    if (indices[i] >= 0) done.push_back(requests[static_cast<std::size_t>(indices[i])]);
  complete(watch, done);
}

}  // namespace

namespace {

Awaited awaited(int count, const MPI_Request* requests) {
  return Awaited(count, [requests](int i) { return requests[i]; });
}
int as_it_is(int, int code) { return code; }
auto in_statuses(MPI_Status* statuses) {
  return [statuses](int i, int code) {
    if (statuses != MPI_STATUSES_IGNORE) statuses[i].MPI_ERROR = code;
    return MPI_ERR_IN_STATUS;
  };
}
void look() {
  if (background().any()) background().look();
}

}  // namespace

EXPORTED int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  Watch watch(__builtin_return_address(0));
  const auto before = kept(1, request);
  Awaited ours = awaited(1, request);
  const auto test = [&](bool& is_done) {
    int flag = 0;
    const int code = PMPI_Test(request, &flag, status);
    is_done = flag != 0;
    return code;
  };
  const int code = ours.until(test, [&] { return PMPI_Wait(request, status); });
  complete(watch, before);
  return ours.verdict(code, 1, nullptr, as_it_is);
}

EXPORTED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  Watch watch(__builtin_return_address(0));
  const auto before = kept(count, requests);
  Awaited ours = awaited(count, requests);
  const auto test = [&](bool& is_done) {
    int flag = 0;
    const int code = PMPI_Testall(count, requests, &flag, statuses);
    is_done = flag != 0;
    return code;
  };
  const int code = ours.until(test, [&] { return PMPI_Waitall(count, requests, statuses); });
  complete(watch, before);
  return ours.verdict(code, count, nullptr, in_statuses(statuses));
}

EXPORTED int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  Watch watch(__builtin_return_address(0));
  const auto before = kept(count, requests);
  Awaited ours = awaited(count, requests);
  const auto test = [&](bool& is_done) {
    int flag = 0;
    const int code = PMPI_Testany(count, requests, index, &flag, status);
    is_done = flag != 0;
    return code;
  };
  const int code = ours.until(test, [&] { return PMPI_Waitany(count, requests, index, status); });
  complete_some(watch, before, 1, index);
  return ours.verdict(code, 1, index, as_it_is);
}

EXPORTED int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[],
                          MPI_Status statuses[]) {
  Watch watch(__builtin_return_address(0));
  const auto before = kept(count, requests);
  Awaited ours = awaited(count, requests);
  const auto test = [&](bool& is_done) {
    const int code = PMPI_Testsome(count, requests, done, indices, statuses);
    is_done = *done != 0;  // or undefined: none is active
    return code;
  };
  const int code = ours.until(test, [&] { return PMPI_Waitsome(count, requests, done, indices, statuses); });
  complete_some(watch, before, *done, indices);
  return ours.verdict(code, *done, indices, in_statuses(statuses));
}

EXPORTED int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  Watch watch(__builtin_return_address(0));
  const auto before = kept(1, request);
  const Awaited ours = awaited(1, request);
  look();
  const int code = PMPI_Test(request, flag, status);
  if (*flag == 0) return code;
  complete(watch, before);
  return ours.verdict(code, 1, nullptr, as_it_is);
}

EXPORTED int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  Watch watch(__builtin_return_address(0));
  const auto before = kept(count, requests);
  const Awaited ours = awaited(count, requests);
  look();
  const int code = PMPI_Testall(count, requests, flag, statuses);
  if (*flag == 0) return code;
  complete(watch, before);
  return ours.verdict(code, count, nullptr, in_statuses(statuses));
}

EXPORTED int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  Watch watch(__builtin_return_address(0));
  const auto before = kept(count, requests);
  const Awaited ours = awaited(count, requests);
  look();
  const int code = PMPI_Testany(count, requests, index, flag, status);
  if (*flag == 0) return code;
  complete_some(watch, before, 1, index);
  return ours.verdict(code, 1, index, as_it_is);
}

EXPORTED int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[],
                          MPI_Status statuses[]) {
  Watch watch(__builtin_return_address(0));
  const auto before = kept(count, requests);
  const Awaited ours = awaited(count, requests);
  look();
  const int code = PMPI_Testsome(count, requests, done, indices, statuses);
  complete_some(watch, before, *done, indices);
  return ours.verdict(code, *done, indices, in_statuses(statuses));
}

// --- Begin and end ----------------------------------------------------------------------------------------------------

static void begin() {
  recorder().begin();
  replacer().begin();
}

EXPORTED int MPI_Init(int* argc, char*** argv) {
  find_mpi();
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) begin();
  return code;
}

EXPORTED int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  find_mpi();
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin();
  return code;
}

EXPORTED int MPI_Finalize() {
  replacer().end();
  recorder().end();
  return PMPI_Finalize();
}

EXPORTED int MPI_Abort(MPI_Comm comm, int code) {
  recorder().end();
  return PMPI_Abort(comm, code);
}

/// A program that ends without MPI_Finalize.
__attribute__((destructor)) static void end_of_program() { recorder().end(); }
// NOLINTEND(bugprone-macro-parentheses)
