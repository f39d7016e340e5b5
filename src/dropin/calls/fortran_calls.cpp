// SPDX-License-Identifier: BSD-3-Clause
// The calls of Fortran programs under Open MPI, whose Fortran functions call PMPI themselves: mpif.h and `use mpi` by any of four
// manglings, `use mpi_f08` by its own names. Every argument is an address (an f08 handle begins with the integer), so they are
// handed on as they are. MPICH's call the C functions, which are in c_calls.cpp.
#include <mpi.h>

#ifdef OPEN_MPI
#include <dlfcn.h>

#include <vector>

#include "dropin/calls/items.hpp"
#include "dropin/calls/rows.hpp"
#include "dropin/record.hpp"

using namespace nuice::dropin;

namespace {

static_assert(sizeof(MPI_Fint) == sizeof(int), "counts are handed on as they are");

int value(const void* at) { return *static_cast<const MPI_Fint*>(at); }
const int* values(const void* at) { return static_cast<const MPI_Fint*>(at); }
const MPI_Aint* addresses(const void* at) { return static_cast<const MPI_Aint*>(at); }
MPI_Comm comm_at(const void* at) { return PMPI_Comm_f2c(value(at)); }
MPI_Datatype type_at(const void* at, int i = 0) { return PMPI_Type_f2c(values(at)[i]); }
MPI_Request request_at(const void* at, int i = 0) { return PMPI_Request_f2c(values(at)[i]); }

/// Fortran's MPI_IN_PLACE is an address of its own, which has the library's four manglings too.
bool in_place(const void* buffer) {
  static const void* const marks[] = {
      dlsym(RTLD_DEFAULT, "mpi_fortran_in_place"), dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_"),
      dlsym(RTLD_DEFAULT, "mpi_fortran_in_place__"), dlsym(RTLD_DEFAULT, "MPI_FORTRAN_IN_PLACE")};
  for (const void* const mark : marks)
    if (mark != nullptr && buffer == mark) return true;
  return false;
}

bool at_bottom(const void* buffer) {
  static const void* const marks[] = {
      dlsym(RTLD_DEFAULT, "mpi_fortran_bottom"), dlsym(RTLD_DEFAULT, "mpi_fortran_bottom_"),
      dlsym(RTLD_DEFAULT, "mpi_fortran_bottom__"), dlsym(RTLD_DEFAULT, "MPI_FORTRAN_BOTTOM")};
  for (const void* const mark : marks)
    if (mark != nullptr && buffer == mark) return true;
  return false;
}

/// As C names it.
void* buffer_at(void* buffer) {
  return in_place(buffer) ? MPI_IN_PLACE : at_bottom(buffer) ? MPI_BOTTOM : buffer;
}

// a: the arguments. 1-based in the comments of the standard, 0-based here.

Row alltoall_row(void** a) {
  return all_equal(comm_at(a[6]), in_place(a[0]), value(a[1]), type_at(a[2]), value(a[4]), type_at(a[5]));
}
Row alltoallv_row(void** a) {
  return all_vector(comm_at(a[8]), in_place(a[0]), values(a[1]), type_at(a[3]), values(a[5]), type_at(a[7]));
}
Row alltoallw_row(void** a) {
  const bool swap = in_place(a[0]);
  return all_typed(comm_at(a[8]), values(a[swap ? 5 : 1]),
                   [&](int i) { return type_at(a[swap ? 7 : 3], i); });
}
Row neighbor_alltoall_row(void** a) { return neighbours_equal(comm_at(a[6]), value(a[1]), type_at(a[2])); }
Row neighbor_alltoallv_row(void** a) {
  return neighbours_typed(comm_at(a[8]), values(a[1]), [&](int) { return type_at(a[3]); });
}
Row neighbor_alltoallw_row(void** a) {
  return neighbours_typed(comm_at(a[8]), values(a[1]), [&](int i) { return type_at(a[3], i); });
}

/// error: where the Fortran function puts its code; with mpi_f08 it may be left out.
template <typename Next>
int by_mpi(Next&& next, const void* error) {
  next();
  return error == nullptr ? MPI_SUCCESS : value(error);
}
void put_code(int code, void* error) {
  if (error != nullptr) *static_cast<MPI_Fint*>(error) = code;
}
template <typename Next>
void run_alltoall_at(void** a, Next&& next) {
  const int code = run_alltoall(buffer_at(a[0]), value(a[1]), in_place(a[0]) ? MPI_Datatype{} : type_at(a[2]),
                                buffer_at(a[3]), value(a[4]), type_at(a[5]), comm_at(a[6]),
                                [&] { return by_mpi(next, a[7]); });
  put_code(code, a[7]);
}
template <typename Next>
void run_alltoallv_at(void** a, Next&& next) {
  const int code =
      run_alltoallv(buffer_at(a[0]), values(a[1]), values(a[2]),
                    in_place(a[0]) ? MPI_Datatype{} : type_at(a[3]), buffer_at(a[4]), values(a[5]),
                    values(a[6]), type_at(a[7]), comm_at(a[8]), [&] { return by_mpi(next, a[9]); });
  put_code(code, a[9]);
}
template <typename Next>
void run_alltoallw_at(void** a, Next&& next) {
  const int code = run_alltoallw(
      buffer_at(a[0]), values(a[1]), values(a[2]), [&](int i) { return type_at(a[3], i); }, buffer_at(a[4]),
      values(a[5]), values(a[6]), [&](int i) { return type_at(a[7], i); }, comm_at(a[8]),
      [&] { return by_mpi(next, a[9]); });
  put_code(code, a[9]);
}

template <typename Next>
void run_neighbor_alltoall_at(void** a, Next&& next) {
  const int code =
      run_neighbor_alltoall(buffer_at(a[0]), value(a[1]), type_at(a[2]), buffer_at(a[3]), value(a[4]),
                            type_at(a[5]), comm_at(a[6]), [&] { return by_mpi(next, a[7]); });
  put_code(code, a[7]);
}
template <typename Next>
void run_neighbor_alltoallv_at(void** a, Next&& next) {
  const int code = run_neighbor_alltoallv(buffer_at(a[0]), values(a[1]), values(a[2]), type_at(a[3]),
                                          buffer_at(a[4]), values(a[5]), values(a[6]), type_at(a[7]),
                                          comm_at(a[8]), [&] { return by_mpi(next, a[9]); });
  put_code(code, a[9]);
}
template <typename Next>
void run_neighbor_alltoallw_at(void** a, Next&& next) {
  const int code = run_neighbor_alltoallw(
      buffer_at(a[0]), values(a[1]), addresses(a[2]), [&](int i) { return type_at(a[3], i); },
      buffer_at(a[4]), values(a[5]), addresses(a[6]), [&](int i) { return type_at(a[7], i); }, comm_at(a[8]),
      [&] { return by_mpi(next, a[9]); });
  put_code(code, a[9]);
}

std::vector<MPI_Request> requests_at(int count, const void* at) {
  std::vector<MPI_Request> requests;
  if (recorder().is_on() && recorder().waits_for_any())
    for (int i = 0; i < count; ++i) requests.push_back(request_at(at, i));
  return requests;
}

/// Indices count from 1 here.
std::vector<MPI_Request> chosen(const std::vector<MPI_Request>& requests, int count, const int* indices) {
  std::vector<MPI_Request> done;
  for (int i = 0; i < count && !requests.empty(); ++i)
    if (indices[i] >= 1) done.push_back(requests[static_cast<std::size_t>(indices[i]) - 1]);
  return done;
}

void complete(Watch& watch, const std::vector<MPI_Request>& requests) {
  if (watch.ended() && !requests.empty()) recorder().complete(requests, watch.from(), watch.seconds());
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses)
#define V void*
#define P3 V a0, V a1, V a2
#define N3 a0, a1, a2
#define P4 P3, V a3
#define N4 N3, a3
#define P5 P4, V a4
#define N5 N4, a4
#define P6 P5, V a5
#define N6 N5, a5
#define P7 P6, V a6
#define N7 N6, a6
#define P8 P7, V a7
#define N8 N7, a7
#define P9 P8, V a8
#define N9 N8, a8
#define P10 P9, V a9
#define N10 N9, a9
#define P11 P10, V a10
#define N11 N10, a10
#define P1 V a0
#define N1 a0
#define P2 V a0, V a1
#define N2 a0, a1

/// One symbol: looks up the next library's function of that very name, and does BODY with NEXT.
#define SYMBOL(symbol, n, BODY)                                                         \
  extern "C" __attribute__((visibility("default"))) void symbol(P##n) {                 \
    using Function = void (*)(P##n);                                                    \
    static const auto function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, #symbol)); \
    [[maybe_unused]] V a[] = {N##n};                                                    \
    const auto next = [&] { function(N##n); };                                          \
    BODY(next, a)                                                                       \
  }
#define ALL_SYMBOLS(name, NAME, n, BODY) \
  SYMBOL(name##_, n, BODY)               \
  SYMBOL(name, n, BODY)                  \
  SYMBOL(name##__, n, BODY)              \
  SYMBOL(NAME, n, BODY)                  \
  SYMBOL(name##_f08_, n, BODY)

#define NOTE_REPLACED(call, comm_index, row, run) \
  Watch watch(__builtin_return_address(0));       \
  if (replacer().is_on() && watch.is_outermost()) \
    run(a, next);                                 \
  else                                            \
    next();                                       \
  if (watch.ended()) recorder().note(call, comm_at(a[comm_index]), watch.from(), row(a), watch.seconds());
#define NOTE_STARTED(call, comm_index, row)                                                      \
  Watch watch(__builtin_return_address(0));                                                      \
  next();                                                                                        \
  if (watch.ended())                                                                             \
    recorder().note_started(call, comm_at(a[comm_index]), watch.from(), row(a), watch.seconds(), \
                            request_at(a[comm_index + 1]));

#define ALLTOALL_BODY(next, a) NOTE_REPLACED("MPI_Alltoall", 6, alltoall_row, run_alltoall_at)
#define ALLTOALLV_BODY(next, a) NOTE_REPLACED("MPI_Alltoallv", 8, alltoallv_row, run_alltoallv_at)
#define ALLTOALLW_BODY(next, a) NOTE_REPLACED("MPI_Alltoallw", 8, alltoallw_row, run_alltoallw_at)
#define NEIGHBOR_ALLTOALL_BODY(next, a) \
  NOTE_REPLACED("MPI_Neighbor_alltoall", 6, neighbor_alltoall_row, run_neighbor_alltoall_at)
#define NEIGHBOR_ALLTOALLV_BODY(next, a) \
  NOTE_REPLACED("MPI_Neighbor_alltoallv", 8, neighbor_alltoallv_row, run_neighbor_alltoallv_at)
#define NEIGHBOR_ALLTOALLW_BODY(next, a) \
  NOTE_REPLACED("MPI_Neighbor_alltoallw", 8, neighbor_alltoallw_row, run_neighbor_alltoallw_at)
#define IALLTOALL_BODY(next, a) NOTE_STARTED("MPI_Ialltoall", 6, alltoall_row)
#define IALLTOALLV_BODY(next, a) NOTE_STARTED("MPI_Ialltoallv", 8, alltoallv_row)
#define IALLTOALLW_BODY(next, a) NOTE_STARTED("MPI_Ialltoallw", 8, alltoallw_row)
#define INEIGHBOR_ALLTOALL_BODY(next, a) NOTE_STARTED("MPI_Ineighbor_alltoall", 6, neighbor_alltoall_row)
#define INEIGHBOR_ALLTOALLV_BODY(next, a) NOTE_STARTED("MPI_Ineighbor_alltoallv", 8, neighbor_alltoallv_row)
#define INEIGHBOR_ALLTOALLW_BODY(next, a) NOTE_STARTED("MPI_Ineighbor_alltoallw", 8, neighbor_alltoallw_row)

ALL_SYMBOLS(mpi_alltoall, MPI_ALLTOALL, 8, ALLTOALL_BODY)
ALL_SYMBOLS(mpi_alltoallv, MPI_ALLTOALLV, 10, ALLTOALLV_BODY)
ALL_SYMBOLS(mpi_alltoallw, MPI_ALLTOALLW, 10, ALLTOALLW_BODY)
ALL_SYMBOLS(mpi_neighbor_alltoall, MPI_NEIGHBOR_ALLTOALL, 8, NEIGHBOR_ALLTOALL_BODY)
ALL_SYMBOLS(mpi_neighbor_alltoallv, MPI_NEIGHBOR_ALLTOALLV, 10, NEIGHBOR_ALLTOALLV_BODY)
ALL_SYMBOLS(mpi_neighbor_alltoallw, MPI_NEIGHBOR_ALLTOALLW, 10, NEIGHBOR_ALLTOALLW_BODY)
ALL_SYMBOLS(mpi_ialltoall, MPI_IALLTOALL, 9, IALLTOALL_BODY)
ALL_SYMBOLS(mpi_ialltoallv, MPI_IALLTOALLV, 11, IALLTOALLV_BODY)
ALL_SYMBOLS(mpi_ialltoallw, MPI_IALLTOALLW, 11, IALLTOALLW_BODY)
ALL_SYMBOLS(mpi_ineighbor_alltoall, MPI_INEIGHBOR_ALLTOALL, 9, INEIGHBOR_ALLTOALL_BODY)
ALL_SYMBOLS(mpi_ineighbor_alltoallv, MPI_INEIGHBOR_ALLTOALLV, 11, INEIGHBOR_ALLTOALLV_BODY)
ALL_SYMBOLS(mpi_ineighbor_alltoallw, MPI_INEIGHBOR_ALLTOALLW, 11, INEIGHBOR_ALLTOALLW_BODY)

// --- Communicators with neighbourhoods: ..., the new one, error --------------------------------------------------------

#define BEGIN_NEIGHBOURS(call, made)                                     \
  Watch watch(__builtin_return_address(0));                              \
  const int code = by_mpi(next, a[(made) + 1]);                          \
  if (code == MPI_SUCCESS && replacer().is_on() && watch.is_outermost()) \
    put_code(replacer().begin_neighbours(call, comm_at(a[0]), comm_at(a[made])), a[(made) + 1]);
#define CART_BODY(next, a) BEGIN_NEIGHBOURS("MPI_Cart_create", 5)
#define CART_SUB_BODY(next, a) BEGIN_NEIGHBOURS("MPI_Cart_sub", 2)
#define GRAPH_BODY(next, a) BEGIN_NEIGHBOURS("MPI_Graph_create", 5)
#define DIST_GRAPH_BODY(next, a) BEGIN_NEIGHBOURS("MPI_Dist_graph_create", 8)
#define DIST_GRAPH_ADJACENT_BODY(next, a) BEGIN_NEIGHBOURS("MPI_Dist_graph_create_adjacent", 9)

ALL_SYMBOLS(mpi_cart_create, MPI_CART_CREATE, 7, CART_BODY)
ALL_SYMBOLS(mpi_cart_sub, MPI_CART_SUB, 4, CART_SUB_BODY)
ALL_SYMBOLS(mpi_graph_create, MPI_GRAPH_CREATE, 7, GRAPH_BODY)
ALL_SYMBOLS(mpi_dist_graph_create, MPI_DIST_GRAPH_CREATE, 10, DIST_GRAPH_BODY)
ALL_SYMBOLS(mpi_dist_graph_create_adjacent, MPI_DIST_GRAPH_CREATE_ADJACENT, 11, DIST_GRAPH_ADJACENT_BODY)

// --- Point to point: buffer, count, type, other, tag, comm, request, error ---------------------------------------------

#define TRANSFER(destination)                                                                  \
  Watch watch(__builtin_return_address(0));                                                    \
  next();                                                                                      \
  if (watch.ended())                                                                           \
    recorder().note_transfer(comm_at(a[5]), destination, value(a[1]) * size_of(type_at(a[2])), \
                             watch.seconds(), request_at(a[6]));
#define TRANSFER_INIT(destination)                                                                  \
  Watch watch(__builtin_return_address(0));                                                         \
  next();                                                                                           \
  if (watch.ended())                                                                                \
    recorder().note_transfer_init(comm_at(a[5]), destination, value(a[1]) * size_of(type_at(a[2])), \
                                  request_at(a[6]));
#define SEND_BODY(next, a) TRANSFER(value(a[3]))
#define RECEIVE_BODY(next, a) TRANSFER(MPI_PROC_NULL)
#define SEND_INIT_BODY(next, a) TRANSFER_INIT(value(a[3]))
#define RECEIVE_INIT_BODY(next, a) TRANSFER_INIT(MPI_PROC_NULL)
#define BLOCKING_SEND_BODY(next, a)                                                            \
  Watch watch(__builtin_return_address(0));                                                    \
  next();                                                                                      \
  if (watch.ended())                                                                           \
    recorder().note_blocking(comm_at(a[5]), value(a[3]), value(a[1]) * size_of(type_at(a[2])), \
                             watch.seconds());
#define BLOCKING_RECEIVE_BODY(next, a)      \
  Watch watch(__builtin_return_address(0)); \
  next();                                   \
  if (watch.ended()) recorder().note_blocking(comm_at(a[5]), MPI_PROC_NULL, 0, watch.seconds());

ALL_SYMBOLS(mpi_isend, MPI_ISEND, 8, SEND_BODY)
ALL_SYMBOLS(mpi_issend, MPI_ISSEND, 8, SEND_BODY)
ALL_SYMBOLS(mpi_irsend, MPI_IRSEND, 8, SEND_BODY)
ALL_SYMBOLS(mpi_irecv, MPI_IRECV, 8, RECEIVE_BODY)
ALL_SYMBOLS(mpi_send_init, MPI_SEND_INIT, 8, SEND_INIT_BODY)
ALL_SYMBOLS(mpi_recv_init, MPI_RECV_INIT, 8, RECEIVE_INIT_BODY)
ALL_SYMBOLS(mpi_send, MPI_SEND, 7, BLOCKING_SEND_BODY)
ALL_SYMBOLS(mpi_ssend, MPI_SSEND, 7, BLOCKING_SEND_BODY)
ALL_SYMBOLS(mpi_recv, MPI_RECV, 8, BLOCKING_RECEIVE_BODY)

// --- Requests ----------------------------------------------------------------------------------------------------------

#define START_BODY(next, a)                                                                          \
  Watch watch(__builtin_return_address(0));                                                          \
  if (watch.ended() && recorder().waits_for_any()) recorder().start(request_at(a[0]), watch.from()); \
  next();
#define STARTALL_BODY(next, a)                                                                 \
  Watch watch(__builtin_return_address(0));                                                    \
  if (watch.ended() && recorder().waits_for_any())                                             \
    for (int i = 0; i < value(a[0]); ++i) recorder().start(request_at(a[1], i), watch.from()); \
  next();
#define FREE_BODY(next, a)                                                              \
  Watch watch(__builtin_return_address(0));                                             \
  if (watch.ended() && recorder().waits_for_any()) recorder().forget(request_at(a[0])); \
  next();
#define WAIT_BODY(next, a)                  \
  Watch watch(__builtin_return_address(0)); \
  const auto before = requests_at(1, a[0]); \
  next();                                   \
  complete(watch, before);
#define WAITALL_BODY(next, a)                         \
  Watch watch(__builtin_return_address(0));           \
  const auto before = requests_at(value(a[0]), a[1]); \
  next();                                             \
  complete(watch, before);
#define WAITANY_BODY(next, a)                         \
  Watch watch(__builtin_return_address(0));           \
  const auto before = requests_at(value(a[0]), a[1]); \
  next();                                             \
  complete(watch, chosen(before, 1, values(a[2])));
#define WAITSOME_BODY(next, a)                        \
  Watch watch(__builtin_return_address(0));           \
  const auto before = requests_at(value(a[0]), a[1]); \
  next();                                             \
  complete(watch, chosen(before, value(a[2]), values(a[3])));
#define TEST_BODY(next, a)                  \
  Watch watch(__builtin_return_address(0)); \
  const auto before = requests_at(1, a[0]); \
  next();                                   \
  if (value(a[1]) != 0) complete(watch, before);
#define TESTALL_BODY(next, a)                         \
  Watch watch(__builtin_return_address(0));           \
  const auto before = requests_at(value(a[0]), a[1]); \
  next();                                             \
  if (value(a[2]) != 0) complete(watch, before);

ALL_SYMBOLS(mpi_start, MPI_START, 2, START_BODY)
ALL_SYMBOLS(mpi_startall, MPI_STARTALL, 3, STARTALL_BODY)
ALL_SYMBOLS(mpi_request_free, MPI_REQUEST_FREE, 2, FREE_BODY)
ALL_SYMBOLS(mpi_wait, MPI_WAIT, 3, WAIT_BODY)
ALL_SYMBOLS(mpi_waitall, MPI_WAITALL, 4, WAITALL_BODY)
ALL_SYMBOLS(mpi_waitany, MPI_WAITANY, 5, WAITANY_BODY)
ALL_SYMBOLS(mpi_waitsome, MPI_WAITSOME, 6, WAITSOME_BODY)
ALL_SYMBOLS(mpi_test, MPI_TEST, 4, TEST_BODY)
ALL_SYMBOLS(mpi_testall, MPI_TESTALL, 5, TESTALL_BODY)
ALL_SYMBOLS(mpi_testsome, MPI_TESTSOME, 6, WAITSOME_BODY)

// --- Begin and end -----------------------------------------------------------------------------------------------------

#define INIT_BODY(next, a) \
  find_mpi();              \
  next();                  \
  recorder().begin();      \
  replacer().begin();
#define END_BODY(next, a) \
  replacer().end();       \
  recorder().end();       \
  next();

ALL_SYMBOLS(mpi_init, MPI_INIT, 1, INIT_BODY)
ALL_SYMBOLS(mpi_init_thread, MPI_INIT_THREAD, 3, INIT_BODY)
ALL_SYMBOLS(mpi_finalize, MPI_FINALIZE, 1, END_BODY)
ALL_SYMBOLS(mpi_abort, MPI_ABORT, 3, END_BODY)
// NOLINTEND(bugprone-macro-parentheses)
#endif
