// SPDX-License-Identifier: BSD-3-Clause
// The recorded calls, one line each in the tables below: name, parameters, arguments, and the row that the
// call sends.
#include <mpi.h>

#include <vector>

#include "run/calls/rows.hpp"
#include "run/entry.hpp"
#include "run/recorder.hpp"
#include "run/watch.hpp"

using namespace nuice::run;

namespace {

/// Returns the handles before a call, because the call sets the handles of complete requests to null.
std::vector<MPI_Request> handles_before(const Watch& watch, int count, const MPI_Request* requests) {
  if (!watch.is_on() || !recorder().waits_for_any() || count <= 0 || requests == nullptr) return {};
  return {requests, requests + count};
}

void complete(Watch& watch, const std::vector<MPI_Request>& requests) {
  if (watch.ended() && !requests.empty())
    recorder().complete(requests, watch.begun_after(), watch.from(), watch.seconds());
}

/// Records a call that completes all its requests. After an error, only those requests are complete that the
/// call has set to null.
void complete_all(Watch& watch, int code, const std::vector<MPI_Request>& before, const MPI_Request* now) {
  if (code == MPI_SUCCESS) return complete(watch, before);
  std::vector<MPI_Request> done;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (now[i] == null_request()) done.push_back(before[i]);
  complete(watch, done);
}

void complete_some(Watch& watch, const std::vector<MPI_Request>& before, int count, const int* indices) {
  std::vector<MPI_Request> done;
  for (int i = 0; i < count && !before.empty(); ++i)
    if (indices[i] >= 0) done.push_back(before[static_cast<std::size_t>(indices[i])]);
  complete(watch, done);
}

void start(Watch& watch, int code, int count, const MPI_Request* requests) {
  if (!watch.records(code) || !recorder().waits_for_any()) return;
  for (int i = 0; i < count; ++i) recorder().start(requests[i], watch.from(), watch.seconds() / count);
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses, misc-const-correctness): not every call uses its watch
#define CALL NUICE_CALL
#define CALL_X NUICE_CALL_X

#define A2A const void *sb, Count sc, MPI_Datatype st, void *rb, Count rc, MPI_Datatype rt, MPI_Comm comm
#define A2A_ARGS sb, sc, st, rb, rc, rt, comm
#define A2AV                                                                                              \
  const void *sb, const Count *scs, const Displacement *sds, MPI_Datatype st, void *rb, const Count *rcs, \
      const Displacement *rds, MPI_Datatype rt, MPI_Comm comm
#define A2AV_ARGS sb, scs, sds, st, rb, rcs, rds, rt, comm
#define A2AW_OF(displacement)                                                                   \
  const void *sb, const Count *scs, const displacement *sds, const MPI_Datatype *sts, void *rb, \
      const Count *rcs, const displacement *rds, const MPI_Datatype *rts, MPI_Comm comm
#define A2AW A2AW_OF(Displacement)
#define NA2AW A2AW_OF(MPI_Aint)
#define A2AW_ARGS sb, scs, sds, sts, rb, rcs, rds, rts, comm

#define IN_PLACE (sb == MPI_IN_PLACE)
#define A2A_ROW all_equal(comm, IN_PLACE, sc, st, rc, rt)
#define A2AV_ROW all_vector(comm, IN_PLACE, scs, st, rcs, rt)
#define A2AW_ROW all_typed(comm, IN_PLACE ? rcs : scs, [&](int i) { return (IN_PLACE ? rts : sts)[i]; })
#define NA2A_ROW neighbours_equal(comm, sc, st)
#define NA2AV_ROW neighbours_typed(comm, scs, [&](int) { return st; })
#define NA2AW_ROW neighbours_typed(comm, scs, [&](int i) { return sts[i]; })

#define ALL_TO_ALLS(EACH, suffix)                                                  \
  EACH(Alltoall, alltoall, suffix, A2A, A2A_ARGS, A2A_ROW)                         \
  EACH(Alltoallv, alltoallv, suffix, A2AV, A2AV_ARGS, A2AV_ROW)                    \
  EACH(Alltoallw, alltoallw, suffix, A2AW, A2AW_ARGS, A2AW_ROW)                    \
  EACH(Neighbor_alltoall, neighbor_alltoall, suffix, A2A, A2A_ARGS, NA2A_ROW)      \
  EACH(Neighbor_alltoallv, neighbor_alltoallv, suffix, A2AV, A2AV_ARGS, NA2AV_ROW) \
  EACH(Neighbor_alltoallw, neighbor_alltoallw, suffix, NA2AW, A2AW_ARGS, NA2AW_ROW)

#define BLOCKING(Name, name, suffix, PARAMETERS, ARGS, ROW)                                           \
  CALL(Name##suffix, (PARAMETERS), {                                                                  \
    const int code = next(ARGS);                                                                      \
    if (watch.records(code)) recorder().note("MPI_" #Name, comm, watch.from(), ROW, watch.seconds()); \
    return code;                                                                                      \
  })
#define NONBLOCKING(Name, name, suffix, PARAMETERS, ARGS, ROW)                                    \
  CALL(I##name##suffix, (PARAMETERS, MPI_Request * request), {                                    \
    const int code = next(ARGS, request);                                                         \
    if (watch.records(code))                                                                      \
      recorder().note_started("MPI_I" #name, comm, watch.from(), ROW, watch.seconds(), *request); \
    return code;                                                                                  \
  })
#define PERSISTENT(Name, name, suffix, PARAMETERS, ARGS, ROW)                                               \
  CALL(Name##_init##suffix, (PARAMETERS, MPI_Info info, MPI_Request * request), {                           \
    const int code = next(ARGS, info, request);                                                             \
    if (watch.records(code)) recorder().note_init("MPI_" #Name "_init", comm, watch.from(), ROW, *request); \
    return code;                                                                                            \
  })
#define PERSISTENT_X(Name, name, suffix, PARAMETERS, ARGS, ROW)                                              \
  CALL_X(Name##_init##suffix, (PARAMETERS, MPI_Info info, MPI_Request * request), {                          \
    const int code = next(ARGS, info, request);                                                              \
    if (watch.records(code)) recorder().note_init("MPIX_" #Name "_init", comm, watch.from(), ROW, *request); \
    return code;                                                                                             \
  })

// --- Point to point ---

#define SEND const void *buffer, Count count, MPI_Datatype type, int other, int tag, MPI_Comm comm
#define RECEIVE void *buffer, Count count, MPI_Datatype type, int other, int tag, MPI_Comm comm
#define TRANSFER_ARGS buffer, count, type, other, tag, comm

#define TRANSFER(Name, PARAMETERS, destination)                                                      \
  CALL(Name, (PARAMETERS, MPI_Request * request), {                                                  \
    const int code = next(TRANSFER_ARGS, request);                                                   \
    if (watch.records(code))                                                                         \
      recorder().note_transfer(comm, destination, count * size_of(type), watch.seconds(), *request); \
    return code;                                                                                     \
  })
#define TRANSFER_INIT(Name, PARAMETERS, destination)                                     \
  CALL(Name, (PARAMETERS, MPI_Request * request), {                                      \
    const int code = next(TRANSFER_ARGS, request);                                       \
    if (watch.records(code))                                                             \
      recorder().note_transfer_init(comm, destination, count * size_of(type), *request); \
    return code;                                                                         \
  })
#define BLOCKING_SEND(Name)                                                                                 \
  CALL(Name, (SEND), {                                                                                      \
    const int code = next(TRANSFER_ARGS);                                                                   \
    if (watch.records(code)) recorder().note_blocking(comm, other, count * size_of(type), watch.seconds()); \
    return code;                                                                                            \
  })
#define BLOCKING_RECEIVE(Name)                                                                  \
  CALL(Name, (RECEIVE, MPI_Status * status), {                                                  \
    const int code = next(TRANSFER_ARGS, status);                                               \
    if (watch.records(code)) recorder().note_blocking(comm, MPI_PROC_NULL, 0, watch.seconds()); \
    return code;                                                                                \
  })
/// Records both the send and the receive. Outside an exchange such a call is not recorded.
#define SEND_AND_RECEIVE(Name)                                                                       \
  CALL(Name,                                                                                         \
       (const void* buffer, Count count, MPI_Datatype type, int to, int stag, void* rb, Count rc,    \
        MPI_Datatype rt, int from, int rtag, MPI_Comm comm, MPI_Status* status),                     \
       {                                                                                             \
         const int code = next(buffer, count, type, to, stag, rb, rc, rt, from, rtag, comm, status); \
         if (watch.records(code))                                                                    \
           recorder().note_blocking(comm, to, count * size_of(type), watch.seconds());               \
         return code;                                                                                \
       })

#define TRANSFERS(suffix)                                  \
  TRANSFER(Isend##suffix, SEND, other)                     \
  TRANSFER(Issend##suffix, SEND, other)                    \
  TRANSFER(Irsend##suffix, SEND, other)                    \
  TRANSFER(Ibsend##suffix, SEND, other)                    \
  TRANSFER(Irecv##suffix, RECEIVE, MPI_PROC_NULL)          \
  TRANSFER_INIT(Send_init##suffix, SEND, other)            \
  TRANSFER_INIT(Ssend_init##suffix, SEND, other)           \
  TRANSFER_INIT(Rsend_init##suffix, SEND, other)           \
  TRANSFER_INIT(Bsend_init##suffix, SEND, other)           \
  TRANSFER_INIT(Recv_init##suffix, RECEIVE, MPI_PROC_NULL) \
  BLOCKING_SEND(Send##suffix)                              \
  BLOCKING_SEND(Ssend##suffix)                             \
  BLOCKING_SEND(Rsend##suffix)                             \
  BLOCKING_SEND(Bsend##suffix)                             \
  BLOCKING_RECEIVE(Recv##suffix)                           \
  SEND_AND_RECEIVE(Sendrecv##suffix)

namespace usual {  // in which functions of C keep their names
using Count = int;
using Displacement = int;
ALL_TO_ALLS(BLOCKING, )
ALL_TO_ALLS(NONBLOCKING, )
// Functions of MPI 4, which Open MPI 5 has under the standard names. Open MPI 4 names them MPIX_.
ALL_TO_ALLS(PERSISTENT, )
ALL_TO_ALLS(PERSISTENT_X, )
TRANSFERS()
}  // namespace usual

#if MPI_VERSION >= 4
namespace large {
using Count = MPI_Count;
using Displacement = MPI_Aint;
ALL_TO_ALLS(BLOCKING, _c)
ALL_TO_ALLS(NONBLOCKING, _c)
ALL_TO_ALLS(PERSISTENT, _c)
TRANSFERS(_c)
}  // namespace large
#endif

// --- Requests ---

CALL(Start, (MPI_Request * request), {
  const int code = next(request);
  start(watch, code, 1, request);
  return code;
})
CALL(Startall, (int count, MPI_Request requests[]), {
  const int code = next(count, requests);
  start(watch, code, count, requests);
  return code;
})
CALL(Request_free, (MPI_Request * request), {
  const auto before = handles_before(watch, 1, request);
  const int code = next(request);
  if (watch.records(code) && !before.empty()) recorder().forget(before.front());
  return code;
})

CALL(Wait, (MPI_Request * request, MPI_Status* status), {
  const auto before = handles_before(watch, 1, request);
  const int code = next(request, status);
  complete_all(watch, code, before, request);
  return code;
})
CALL(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), {
  const auto before = handles_before(watch, count, requests);
  const int code = next(count, requests, statuses);
  complete_all(watch, code, before, requests);
  return code;
})
CALL(Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status), {
  const auto before = handles_before(watch, count, requests);
  const int code = next(count, requests, index, status);
  if (watch.records(code)) complete_some(watch, before, 1, index);
  return code;
})
CALL(Waitsome, (int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]), {
  const auto before = handles_before(watch, count, requests);
  const int code = next(count, requests, done, indices, statuses);
  if (watch.records(code)) complete_some(watch, before, *done, indices);
  return code;
})
CALL(Test, (MPI_Request * request, int* flag, MPI_Status* status), {
  const auto before = handles_before(watch, 1, request);
  const int code = next(request, flag, status);
  if (code != MPI_SUCCESS || *flag != 0) complete_all(watch, code, before, request);
  return code;
})
CALL(Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]), {
  const auto before = handles_before(watch, count, requests);
  const int code = next(count, requests, flag, statuses);
  if (code != MPI_SUCCESS || *flag != 0) complete_all(watch, code, before, requests);
  return code;
})
CALL(Testany, (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status), {
  const auto before = handles_before(watch, count, requests);
  const int code = next(count, requests, index, flag, status);
  if (watch.records(code) && *flag != 0) complete_some(watch, before, 1, index);
  return code;
})
CALL(Testsome, (int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]), {
  const auto before = handles_before(watch, count, requests);
  const int code = next(count, requests, done, indices, statuses);
  if (watch.records(code)) complete_some(watch, before, *done, indices);
  return code;
})

// --- Begin and end ---

CALL(Init, (int* argc, char*** argv), {
  const int code = next(argc, argv);
  if (code == MPI_SUCCESS && watch.is_outermost()) recorder().begin();
  return code;
})
CALL(Init_thread, (int* argc, char*** argv, int required, int* provided), {
  const int code = next(argc, argv, required, provided);
  if (code == MPI_SUCCESS && watch.is_outermost()) recorder().begin();
  return code;
})
/// Calls that the program's attribute functions make in MPI_Finalize are not recorded.
CALL(Finalize, (), {
  if (watch.is_outermost()) recorder().end();
  return next();
})
CALL(Abort, (MPI_Comm comm, int code), {
  recorder().end();
  return next(comm, code);
})
// NOLINTEND(bugprone-macro-parentheses, misc-const-correctness)

/// Writes the record of a program that ends without MPI_Finalize.
__attribute__((destructor)) static void end_of_program() { recorder().end(); }
