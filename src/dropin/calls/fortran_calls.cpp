// SPDX-License-Identifier: BSD-3-Clause
// The calls of Fortran programs under Open MPI, whose Fortran functions call PMPI themselves: mpif.h and `use mpi` by any of four
// manglings, `use mpi_f08` by its own names. Every argument is an address (an f08 handle begins with the integer), so they are
// handed on as they are. MPICH's call the C functions, which are in c_calls.cpp.
#include <mpi.h>

#ifdef OPEN_MPI
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "dropin/calls/blocking_calls.hpp"
#include "dropin/calls/completing.hpp"
#include "dropin/calls/items.hpp"
#include "dropin/calls/rows.hpp"
#include "dropin/record.hpp"

using namespace nuice::dropin;

namespace {

// NOLINTNEXTLINE(misc-redundant-expression): they are the same type in some MPIs only
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
// The same calls as C has them: call(arguments ... comm).

template <typename Act>
int alltoall_at(void** a, Act&& act) {
  return with_alltoall(buffer_at(a[0]), value(a[1]), in_place(a[0]) ? MPI_Datatype{} : type_at(a[2]),
                       buffer_at(a[3]), value(a[4]), type_at(a[5]), comm_at(a[6]), act);
}
template <typename Act>
int alltoallv_at(void** a, Act&& act) {
  return with_alltoallv(buffer_at(a[0]), values(a[1]), values(a[2]),
                        in_place(a[0]) ? MPI_Datatype{} : type_at(a[3]), buffer_at(a[4]), values(a[5]),
                        values(a[6]), type_at(a[7]), comm_at(a[8]), act);
}
template <typename Act>
int alltoallw_at(void** a, Act&& act) {
  return with_alltoallw(
      buffer_at(a[0]), values(a[1]), values(a[2]), [&](int i) { return type_at(a[3], i); }, buffer_at(a[4]),
      values(a[5]), values(a[6]), [&](int i) { return type_at(a[7], i); }, comm_at(a[8]), act);
}
template <typename Act>
int neighbor_alltoall_at(void** a, Act&& act) {
  return with_neighbor_alltoall(buffer_at(a[0]), value(a[1]), type_at(a[2]), buffer_at(a[3]), value(a[4]),
                                type_at(a[5]), comm_at(a[6]), act);
}
template <typename Act>
int neighbor_alltoallv_at(void** a, Act&& act) {
  return with_neighbor_alltoallv(buffer_at(a[0]), values(a[1]), values(a[2]), type_at(a[3]), buffer_at(a[4]),
                                 values(a[5]), values(a[6]), type_at(a[7]), comm_at(a[8]), act);
}
template <typename Act>
int neighbor_alltoallw_at(void** a, Act&& act) {
  return with_neighbor_alltoallw(
      buffer_at(a[0]), values(a[1]), addresses(a[2]), [&](int i) { return type_at(a[3], i); },
      buffer_at(a[4]), values(a[5]), addresses(a[6]), [&](int i) { return type_at(a[7], i); }, comm_at(a[8]),
      act);
}

// By MPI's functions for C, into other memory: call(arguments ... comm). keep: types that must stay until the call is complete.
using Types = std::array<std::vector<MPI_Datatype>, 2>;

template <typename Function>
int c_alltoall(void** a, void* receive, Types&, Function&& call) {
  return call(buffer_at(a[0]), value(a[1]), in_place(a[0]) ? MPI_Datatype{} : type_at(a[2]), receive,
              value(a[4]), type_at(a[5]), comm_at(a[6]));
}
template <typename Function>
int c_alltoallv(void** a, void* receive, Types&, Function&& call) {
  return call(buffer_at(a[0]), values(a[1]), values(a[2]), in_place(a[0]) ? MPI_Datatype{} : type_at(a[3]),
              receive, values(a[5]), values(a[6]), type_at(a[7]), comm_at(a[8]));
}
void take_types(Types& keep, void** a, int num_out, int num_in) {
  for (int i = 0; i < num_out && !in_place(a[0]); ++i) keep[0].push_back(type_at(a[3], i));
  for (int i = 0; i < num_in; ++i) keep[1].push_back(type_at(a[7], i));
}
template <typename Function>
int c_alltoallw(void** a, void* receive, Types& keep, Function&& call) {
  const int n = ranks_in(comm_at(a[8]));
  take_types(keep, a, n, n);
  return call(buffer_at(a[0]), values(a[1]), values(a[2]), keep[0].data(), receive, values(a[5]),
              values(a[6]), keep[1].data(), comm_at(a[8]));
}
template <typename Function>
int c_neighbor_alltoallw(void** a, void* receive, Types& keep, Function&& call) {
  const Neighbours near = neighbours_of(comm_at(a[8]));
  take_types(keep, a, static_cast<int>(near.destinations.size()), static_cast<int>(near.sources.size()));
  return call(buffer_at(a[0]), values(a[1]), addresses(a[2]), keep[0].data(), receive, values(a[5]),
              addresses(a[6]), keep[1].data(), comm_at(a[8]));
}

/// with(how) does a call that gives a request; next() is the program's own, and by_mpi(receive, types, request) as above.
template <typename With, typename Next, typename Mpi>
void begin_at(const char* call, bool is_persistent, void* request, void* error, With&& with, Next&& next,
              Mpi&& mpi) {
  MPI_Request made{};
  bool is_left = false;
  const auto types = std::make_shared<Types>();
  const Beginning how{call, &made, is_persistent,
                      [&] {
                        is_left = true;
                        return by_mpi(next, error);
                      },
                      [&mpi, types](void* receive, MPI_Request* to) { return mpi(receive, *types, to); }};
  const int code = with(how);
  if (is_left) return;
  if (code == MPI_SUCCESS) *static_cast<MPI_Fint*>(request) = PMPI_Request_c2f(made);
  put_code(code, error);
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

void look() {
  if (background().any()) background().look();
}

Awaited awaited(int count, const void* at) {
  return Awaited(count, [at](int i) { return request_at(at, i); });
}
int as_it_is(int, int code) { return code; }
int in_status(int, int) { return MPI_ERR_IN_STATUS; }

/// Of requests whose handles MPI leaves as they are.
void start_at(Watch& watch, int count, const void* at, void* error) {
  if (count <= 0 || (error != nullptr && value(error) != MPI_SUCCESS)) return;
  std::vector<MPI_Request> requests;
  for (int i = 0; i < count; ++i) requests.push_back(request_at(at, i));
  if (const int code = started(watch, requests); code != MPI_SUCCESS) put_code(code, error);
}

/// places: counted from 1.
void put_verdict(const Awaited& ours, int count, const int* places, void* error, bool is_single) {
  if (!background().has_failed()) return;
  std::vector<int> from_zero;
  for (int i = 0; i < count && places != nullptr; ++i) from_zero.push_back(places[i] - 1);
  const int code = ours.verdict(MPI_SUCCESS, count, places == nullptr ? nullptr : from_zero.data(),
                                is_single ? as_it_is : in_status);
  if (code != MPI_SUCCESS) put_code(code, error);
}

/// The test to a call that waits: its symbol with another word in it, of the same kind.
template <typename Function>
Function test_of(std::string symbol) {
  for (const auto& [wait, test] : {std::pair("wait", "test"), std::pair("WAIT", "TEST")})
    if (const auto at = symbol.find(wait); at != std::string::npos) symbol.replace(at, 4, test);
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol.c_str()));
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
#define P12 P11, V a11
#define N12 N11, a11
#define P13 P12, V a12
#define N13 N12, a12
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
    [[maybe_unused]] static const char* const own_name = #symbol;                       \
    BODY(next, a)                                                                       \
  }
#define ALL_SYMBOLS(name, NAME, n, BODY) \
  SYMBOL(name##_, n, BODY)               \
  SYMBOL(name, n, BODY)                  \
  SYMBOL(name##__, n, BODY)              \
  SYMBOL(NAME, n, BODY)                  \
  SYMBOL(name##_f08_, n, BODY)

#define REPLACED(call, name, at, way)                                   \
  Watch watch(__builtin_return_address(0));                             \
  const auto own = [&] {                                                \
    const Leaving leaving;                                              \
    return by_mpi(next, a[(at) + 1]);                                   \
  };                                                                    \
  const bool is_on = replacer().is_on() && watch.is_outermost();        \
  const int code = is_on ? name##_at(a, way("MPI_" call, own)) : own(); \
  if (is_on) put_code(code, a[(at) + 1]);                               \
  if (watch.ended())                                                    \
    recorder().note("MPI_" call, comm_at(a[at]), watch.from(), name##_row(a), watch.seconds());

// at: the communicator's place; behind it request and error, of persistent ones info before these.
#define BEGUN(call, function, name, c_name, at, more, way, note, ...)                                 \
  Watch watch(__builtin_return_address(0));                                                           \
  const auto mpi = [&](void* receive, Types& keep, MPI_Request* to) {                                 \
    return c_name(a, receive, keep, [&](auto... args) { return function(args..., __VA_ARGS__ to); }); \
  };                                                                                                  \
  if (replacer().is_on() && watch.is_outermost())                                                     \
    begin_at(                                                                                         \
        call, (more) != 0, a[(at) + (more) + 1], a[(at) + (more) + 2],                                \
        [&](auto& how) { return name##_at(a, way(how)); }, next, mpi);                                \
  else                                                                                                \
    next();                                                                                           \
  note
#define NOTE_BEGUN(call, name, at)                                                              \
  if (watch.ended())                                                                            \
    recorder().note_started(call, comm_at(a[at]), watch.from(), name##_row(a), watch.seconds(), \
                            request_at(a[(at) + 1]));
#define NOTE_INIT(call, name, at) \
  if (watch.ended())              \
    recorder().note_init(call, comm_at(a[at]), watch.from(), name##_row(a), request_at(a[(at) + 2]));
#define INFO_AT(at) PMPI_Info_f2c(value(a[(at) + 1])),
#define NONBLOCKING(name, c_name, at, way) \
  BEGUN("MPI_I" #name, PMPI_I##name, name, c_name, at, 0, way, NOTE_BEGUN("MPI_I" #name, name, at))
#define PERSISTENT(Prefix, Name, name, c_name, at, way)                          \
  BEGUN(#Prefix #Name "_init", P##Prefix##Name##_init, name, c_name, at, 1, way, \
        NOTE_INIT(#Prefix #Name "_init", name, at), INFO_AT(at))

#define ALLTOALL_BODY(next, a) REPLACED("Alltoall", alltoall, 6, blocking)
#define ALLTOALLV_BODY(next, a) REPLACED("Alltoallv", alltoallv, 8, blocking)
#define ALLTOALLW_BODY(next, a) REPLACED("Alltoallw", alltoallw, 8, blocking)
#define NEIGHBOR_ALLTOALL_BODY(next, a) \
  REPLACED("Neighbor_alltoall", neighbor_alltoall, 6, blocking_neighbours)
#define NEIGHBOR_ALLTOALLV_BODY(next, a) \
  REPLACED("Neighbor_alltoallv", neighbor_alltoallv, 8, blocking_neighbours)
#define NEIGHBOR_ALLTOALLW_BODY(next, a) \
  REPLACED("Neighbor_alltoallw", neighbor_alltoallw, 8, blocking_neighbours)
#define IALLTOALL_BODY(next, a) NONBLOCKING(alltoall, c_alltoall, 6, begun)
#define IALLTOALLV_BODY(next, a) NONBLOCKING(alltoallv, c_alltoallv, 8, begun)
#define IALLTOALLW_BODY(next, a) NONBLOCKING(alltoallw, c_alltoallw, 8, begun)
#define INEIGHBOR_ALLTOALL_BODY(next, a) NONBLOCKING(neighbor_alltoall, c_alltoall, 6, begun_neighbours)
#define INEIGHBOR_ALLTOALLV_BODY(next, a) NONBLOCKING(neighbor_alltoallv, c_alltoallv, 8, begun_neighbours)
#define INEIGHBOR_ALLTOALLW_BODY(next, a) \
  NONBLOCKING(neighbor_alltoallw, c_neighbor_alltoallw, 8, begun_neighbours)
#define ALLTOALL_INIT_BODY(next, a) PERSISTENT(MPI_, Alltoall, alltoall, c_alltoall, 6, begun)
#define ALLTOALLV_INIT_BODY(next, a) PERSISTENT(MPI_, Alltoallv, alltoallv, c_alltoallv, 8, begun)
#define ALLTOALLW_INIT_BODY(next, a) PERSISTENT(MPI_, Alltoallw, alltoallw, c_alltoallw, 8, begun)
#define NEIGHBOR_ALLTOALL_INIT_BODY(next, a) \
  PERSISTENT(MPI_, Neighbor_alltoall, neighbor_alltoall, c_alltoall, 6, begun_neighbours)
#define NEIGHBOR_ALLTOALLV_INIT_BODY(next, a) \
  PERSISTENT(MPI_, Neighbor_alltoallv, neighbor_alltoallv, c_alltoallv, 8, begun_neighbours)
#define NEIGHBOR_ALLTOALLW_INIT_BODY(next, a) \
  PERSISTENT(MPI_, Neighbor_alltoallw, neighbor_alltoallw, c_neighbor_alltoallw, 8, begun_neighbours)
#define X_ALLTOALL_INIT_BODY(next, a) PERSISTENT(MPIX_, Alltoall, alltoall, c_alltoall, 6, begun)
#define X_ALLTOALLV_INIT_BODY(next, a) PERSISTENT(MPIX_, Alltoallv, alltoallv, c_alltoallv, 8, begun)
#define X_ALLTOALLW_INIT_BODY(next, a) PERSISTENT(MPIX_, Alltoallw, alltoallw, c_alltoallw, 8, begun)
#define X_NEIGHBOR_ALLTOALL_INIT_BODY(next, a) \
  PERSISTENT(MPIX_, Neighbor_alltoall, neighbor_alltoall, c_alltoall, 6, begun_neighbours)
#define X_NEIGHBOR_ALLTOALLV_INIT_BODY(next, a) \
  PERSISTENT(MPIX_, Neighbor_alltoallv, neighbor_alltoallv, c_alltoallv, 8, begun_neighbours)
#define X_NEIGHBOR_ALLTOALLW_INIT_BODY(next, a) \
  PERSISTENT(MPIX_, Neighbor_alltoallw, neighbor_alltoallw, c_neighbor_alltoallw, 8, begun_neighbours)

// As c_calls.cpp declares them: not every mpi.h does.
#define DECLARED(Prefix, Name, ...) \
  extern "C" int P##Prefix##Name##_init(__VA_ARGS__, MPI_Comm, MPI_Info, MPI_Request*);
#define DECLARED_ALL(Prefix)                                                                                 \
  DECLARED(Prefix, Alltoall, const void*, int, MPI_Datatype, void*, int, MPI_Datatype)                       \
  DECLARED(Prefix, Neighbor_alltoall, const void*, int, MPI_Datatype, void*, int, MPI_Datatype)              \
  DECLARED(Prefix, Alltoallv, const void*, const int*, const int*, MPI_Datatype, void*, const int*,          \
           const int*, MPI_Datatype)                                                                         \
  DECLARED(Prefix, Neighbor_alltoallv, const void*, const int*, const int*, MPI_Datatype, void*, const int*, \
           const int*, MPI_Datatype)                                                                         \
  DECLARED(Prefix, Alltoallw, const void*, const int*, const int*, const MPI_Datatype*, void*, const int*,   \
           const int*, const MPI_Datatype*)                                                                  \
  DECLARED(Prefix, Neighbor_alltoallw, const void*, const int*, const MPI_Aint*, const MPI_Datatype*, void*, \
           const int*, const MPI_Aint*, const MPI_Datatype*)
DECLARED_ALL(MPI_)
DECLARED_ALL(MPIX_)

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

ALL_SYMBOLS(mpi_alltoall_init, MPI_ALLTOALL_INIT, 10, ALLTOALL_INIT_BODY)
ALL_SYMBOLS(mpi_alltoallv_init, MPI_ALLTOALLV_INIT, 12, ALLTOALLV_INIT_BODY)
ALL_SYMBOLS(mpi_alltoallw_init, MPI_ALLTOALLW_INIT, 12, ALLTOALLW_INIT_BODY)
ALL_SYMBOLS(mpi_neighbor_alltoall_init, MPI_NEIGHBOR_ALLTOALL_INIT, 10, NEIGHBOR_ALLTOALL_INIT_BODY)
ALL_SYMBOLS(mpi_neighbor_alltoallv_init, MPI_NEIGHBOR_ALLTOALLV_INIT, 12, NEIGHBOR_ALLTOALLV_INIT_BODY)
ALL_SYMBOLS(mpi_neighbor_alltoallw_init, MPI_NEIGHBOR_ALLTOALLW_INIT, 12, NEIGHBOR_ALLTOALLW_INIT_BODY)
ALL_SYMBOLS(mpix_alltoall_init, MPIX_ALLTOALL_INIT, 10, X_ALLTOALL_INIT_BODY)
ALL_SYMBOLS(mpix_alltoallv_init, MPIX_ALLTOALLV_INIT, 12, X_ALLTOALLV_INIT_BODY)
ALL_SYMBOLS(mpix_alltoallw_init, MPIX_ALLTOALLW_INIT, 12, X_ALLTOALLW_INIT_BODY)
ALL_SYMBOLS(mpix_neighbor_alltoall_init, MPIX_NEIGHBOR_ALLTOALL_INIT, 10, X_NEIGHBOR_ALLTOALL_INIT_BODY)
ALL_SYMBOLS(mpix_neighbor_alltoallv_init, MPIX_NEIGHBOR_ALLTOALLV_INIT, 12, X_NEIGHBOR_ALLTOALLV_INIT_BODY)
ALL_SYMBOLS(mpix_neighbor_alltoallw_init, MPIX_NEIGHBOR_ALLTOALLW_INIT, 12, X_NEIGHBOR_ALLTOALLW_INIT_BODY)

// --- Communicators with neighbourhoods: ..., the new one, error --------------------------------------------------------

#define BEGIN_NEIGHBOURS(call, made)                                     \
  const Watch watch(__builtin_return_address(0));                        \
  const auto own = [&] {                                                 \
    const Leaving leaving;                                               \
    return by_mpi(next, a[(made) + 1]);                                  \
  };                                                                     \
  const int code = own();                                                \
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
  const Leaving leaving;                                                                       \
  next();                                                                                      \
  if (watch.ended())                                                                           \
    recorder().note_blocking(comm_at(a[5]), value(a[3]), value(a[1]) * size_of(type_at(a[2])), \
                             watch.seconds());
#define BLOCKING_RECEIVE_BODY(next, a)      \
  Watch watch(__builtin_return_address(0)); \
  const Leaving leaving;                    \
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
ALL_SYMBOLS(mpi_rsend, MPI_RSEND, 7, BLOCKING_SEND_BODY)
ALL_SYMBOLS(mpi_recv, MPI_RECV, 8, BLOCKING_RECEIVE_BODY)

// --- What else may block, and what looks whether it would ----------------------------------------------------------------

#define LEAVING_BODY(next, a) \
  const Leaving leaving;      \
  next();
#define COLLECTIVE_BODY(next, a)                  \
  replacer().reach(comm_at(a[std::size(a) - 2])); \
  LEAVING_BODY(next, a)
#define LOOKING_BODY(next, a) \
  look();                     \
  next();
#define BLOCKING_CALL(Name, name, NAME, n, PARAMETERS, ARGS) \
  ALL_SYMBOLS(mpi_##name, MPI_##NAME, n, LEAVING_BODY)

#define COLLECTIVE_CALL(Name, name, NAME, n, PARAMETERS, ARGS) \
  ALL_SYMBOLS(mpi_##name, MPI_##NAME, n, COLLECTIVE_BODY)

COUNTED_COLLECTIVE_CALLS(COLLECTIVE_CALL)
OTHER_COLLECTIVE_CALLS(COLLECTIVE_CALL)
COUNTED_BLOCKING_CALLS(BLOCKING_CALL)
OTHER_BLOCKING_CALLS(BLOCKING_CALL)
ALL_SYMBOLS(mpi_iprobe, MPI_IPROBE, 6, LOOKING_BODY)
ALL_SYMBOLS(mpi_improbe, MPI_IMPROBE, 7, LOOKING_BODY)
ALL_SYMBOLS(mpi_win_test, MPI_WIN_TEST, 3, LOOKING_BODY)
ALL_SYMBOLS(mpi_request_get_status, MPI_REQUEST_GET_STATUS, 4, LOOKING_BODY)

// --- Requests ----------------------------------------------------------------------------------------------------------

#define START_BODY(next, a)                 \
  Watch watch(__builtin_return_address(0)); \
  next();                                   \
  start_at(watch, 1, a[0], a[1]);
#define STARTALL_BODY(next, a)              \
  Watch watch(__builtin_return_address(0)); \
  next();                                   \
  start_at(watch, value(a[0]), a[1], a[2]);
#define FREE_BODY(next, a)                                                              \
  Watch watch(__builtin_return_address(0));                                             \
  if (watch.ended() && recorder().waits_for_any()) recorder().forget(request_at(a[0])); \
  if (background().knows_any()) background().forget(request_at(a[0]));                  \
  next();
#define CANCEL_BODY(next, a)                                          \
  if (background().knows_any() && background().has(request_at(a[0]))) \
    put_code(told_handler(world(), MPI_ERR_REQUEST), a[1]);           \
  else                                                                \
    next();
// As loops of the test. With parameters of that.
#define UNTIL(count, at, ...)                                \
  Awaited ours = awaited(count, at);                         \
  using Test = void (*)(__VA_ARGS__);                        \
  static const auto test_function = test_of<Test>(own_name); \
  void* const error = a[std::size(a) - 1];
#define WAIT_BODY(next, a)                                \
  Watch watch(__builtin_return_address(0));               \
  const auto before = requests_at(1, a[0]);               \
  UNTIL(1, a[0], V, V, V, V)                              \
  const auto test = [&](bool& is_done) {                  \
    MPI_Fint flag = 0;                                    \
    test_function(a[0], &flag, a[1], a[2]);               \
    is_done = flag != 0;                                  \
    return error == nullptr ? MPI_SUCCESS : value(error); \
  };                                                      \
  ours.until(test, [&] { return by_mpi(next, error); });  \
  complete(watch, before);                                \
  put_verdict(ours, 1, nullptr, error, true);
#define WAITALL_BODY(next, a)                             \
  Watch watch(__builtin_return_address(0));               \
  const auto before = requests_at(value(a[0]), a[1]);     \
  UNTIL(value(a[0]), a[1], V, V, V, V, V)                 \
  const auto test = [&](bool& is_done) {                  \
    MPI_Fint flag = 0;                                    \
    test_function(a[0], a[1], &flag, a[2], a[3]);         \
    is_done = flag != 0;                                  \
    return error == nullptr ? MPI_SUCCESS : value(error); \
  };                                                      \
  ours.until(test, [&] { return by_mpi(next, error); });  \
  complete(watch, before);                                \
  put_verdict(ours, value(a[0]), nullptr, error, false);
#define WAITANY_BODY(next, a)                             \
  Watch watch(__builtin_return_address(0));               \
  const auto before = requests_at(value(a[0]), a[1]);     \
  UNTIL(value(a[0]), a[1], V, V, V, V, V, V)              \
  const auto test = [&](bool& is_done) {                  \
    MPI_Fint flag = 0;                                    \
    test_function(a[0], a[1], a[2], &flag, a[3], a[4]);   \
    is_done = flag != 0;                                  \
    return error == nullptr ? MPI_SUCCESS : value(error); \
  };                                                      \
  ours.until(test, [&] { return by_mpi(next, error); });  \
  complete(watch, chosen(before, 1, values(a[2])));       \
  put_verdict(ours, 1, values(a[2]), error, true);
#define WAITSOME_BODY(next, a)                                \
  Watch watch(__builtin_return_address(0));                   \
  const auto before = requests_at(value(a[0]), a[1]);         \
  UNTIL(value(a[0]), a[1], V, V, V, V, V, V)                  \
  const auto test = [&](bool& is_done) {                      \
    test_function(a[0], a[1], a[2], a[3], a[4], a[5]);        \
    is_done = value(a[2]) != 0;                               \
    return error == nullptr ? MPI_SUCCESS : value(error);     \
  };                                                          \
  ours.until(test, [&] { return by_mpi(next, error); });      \
  complete(watch, chosen(before, value(a[2]), values(a[3]))); \
  put_verdict(ours, value(a[2]), values(a[3]), error, false);
#define TESTED(count, at)                     \
  Watch watch(__builtin_return_address(0));   \
  const auto before = requests_at(count, at); \
  const Awaited ours = awaited(count, at);    \
  look();                                     \
  next();
#define TEST_BODY(next, a)                     \
  TESTED(1, a[0])                              \
  if (value(a[1]) != 0) {                      \
    complete(watch, before);                   \
    put_verdict(ours, 1, nullptr, a[3], true); \
  }
#define TESTALL_BODY(next, a)                             \
  TESTED(value(a[0]), a[1])                               \
  if (value(a[2]) != 0) {                                 \
    complete(watch, before);                              \
    put_verdict(ours, value(a[0]), nullptr, a[4], false); \
  }
#define TESTANY_BODY(next, a)                         \
  TESTED(value(a[0]), a[1])                           \
  if (value(a[3]) != 0) {                             \
    complete(watch, chosen(before, 1, values(a[2]))); \
    put_verdict(ours, 1, values(a[2]), a[5], true);   \
  }
#define TESTSOME_BODY(next, a)                                \
  TESTED(value(a[0]), a[1])                                   \
  complete(watch, chosen(before, value(a[2]), values(a[3]))); \
  put_verdict(ours, value(a[2]), values(a[3]), a[5], false);

ALL_SYMBOLS(mpi_start, MPI_START, 2, START_BODY)
ALL_SYMBOLS(mpi_startall, MPI_STARTALL, 3, STARTALL_BODY)
ALL_SYMBOLS(mpi_request_free, MPI_REQUEST_FREE, 2, FREE_BODY)
ALL_SYMBOLS(mpi_wait, MPI_WAIT, 3, WAIT_BODY)
ALL_SYMBOLS(mpi_waitall, MPI_WAITALL, 4, WAITALL_BODY)
ALL_SYMBOLS(mpi_waitany, MPI_WAITANY, 5, WAITANY_BODY)
ALL_SYMBOLS(mpi_waitsome, MPI_WAITSOME, 6, WAITSOME_BODY)
ALL_SYMBOLS(mpi_test, MPI_TEST, 4, TEST_BODY)
ALL_SYMBOLS(mpi_testall, MPI_TESTALL, 5, TESTALL_BODY)
ALL_SYMBOLS(mpi_testany, MPI_TESTANY, 6, TESTANY_BODY)
ALL_SYMBOLS(mpi_testsome, MPI_TESTSOME, 6, TESTSOME_BODY)
ALL_SYMBOLS(mpi_cancel, MPI_CANCEL, 2, CANCEL_BODY)

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
