// SPDX-License-Identifier: BSD-3-Clause
// The calls with MPI's arguments: they only say where these are (nuice/mpi/alltoallv.hpp makes messages of them).
#include "nuice/mpi/alltoallv.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "mpi/communicator.hpp"

namespace nuice::capi {
namespace {

using mpi::Integers;
using mpi::PlanOptions;
using mpi::ReceiveBlocks;
using mpi::SendBlocks;

std::string text_in(MPI_Info info) {
  if (info == MPI_INFO_NULL) return {};
  int length = 0;
  int is_there = 0;
  if (MPI_Info_get_valuelen(info, "nuice", &length, &is_there) != MPI_SUCCESS || is_there == 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  MPI_Info_get(info, "nuice", length, text.data(), &is_there);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

struct Call {
  bool is_neighbor;
  bool has_types;
};

void run(Call call, SendBlocks send, ReceiveBlocks receive, MPI_Comm comm, PlanOptions options,
         nuice_request* request) {
  if (request != nullptr) *request = nullptr;
  const bool is_in_place = send.data == MPI_IN_PLACE;
  note(place_in(comm).rank, options, [&] {
    at(request, "request");
    if (is_in_place && call.is_neighbor) refuse("neighbours exchange nothing in place");
  });
  send.each_has_a_type = receive.each_has_a_type = call.has_types;
  mpi::Exchange made = call.is_neighbor ? mpi::neighbor_alltoallv_init(comm, send, receive, options)
                       : is_in_place    ? mpi::alltoallv_init(comm, mpi::in_place, receive, options)
                                        : mpi::alltoallv_init(comm, send, receive, options);
  const mpi::ExchangeInfo info = made.info();
  *request = new nuice_exchange{std::move(made), info.executor};
}

/// Arrays of MPI's calls have no length: it is the number of ranks or neighbours.
template <typename Value>
Integers integers(const Value* values) {
  return {values, Integers::as_many_as_needed};
}
std::span<const MPI_Datatype> each(const MPI_Datatype* types) {
  if (types == nullptr) return {};
  return {types, Integers::as_many_as_needed / sizeof(MPI_Datatype)};
}

template <typename Data, typename Count, typename Displ>
mpi::Blocks<Data> blocks(Data* data, const Count* counts, const Displ* displs,
                         std::span<const MPI_Datatype> types) {
  return {.data = data, .counts = integers(counts), .displs = integers(displs), .types = types};
}

/// Tells the error handler that the user has made for a communicator; MPI's own do nothing here, as statuses are returned.
void call_handler(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || !mpi::may_be_used(comm)) return;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (MPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return;
  bool is_users = handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN;
#if MPI_VERSION >= 4
  is_users = is_users && handler != MPI_ERRORS_ABORT;
#endif
  MPI_Errhandler_free(&handler);
  if (is_users) MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
}

/// Where the sides of a call of MPI's are, whatever the widths of its integers.
template <typename Count, typename Displ, typename Types>
int run_c(Call call, const void* send, const Count* send_counts, const Displ* send_displs, Types send_types,
          void* receive, const Count* receive_counts, const Displ* receive_displs, Types receive_types,
          MPI_Comm comm, MPI_Info info, nuice_request* request) {
  const int status = guarded_mpi([&] {
    run(call, blocks(send, send_counts, send_displs, send_types),
        blocks(receive, receive_counts, receive_displs, receive_types), comm,
        options_of(text_in(info).c_str()), request);
  });
  if (status != NUICE_OK) call_handler(comm);
  return status;
}

// From other languages.

/// Fortran's MPI_IN_PLACE is an address of the MPI library's: of Open MPI by any of four manglings, of MPICH behind MPI_BOTTOM in a common
/// block, or a pointer of its own.
bool is_in_place_of_fortran(const void* data) {
  static const std::vector<const void*> marks = [] {
    std::vector<const void*> found = {MPI_IN_PLACE};
    for (const char* const name : {"mpi_fortran_in_place", "mpi_fortran_in_place_", "mpi_fortran_in_place__",
                                   "MPI_FORTRAN_IN_PLACE", "MPIR_F08_MPI_IN_PLACE", "MPI_F08_IN_PLACE"})
      if (const void* const mark = dlsym(RTLD_DEFAULT, name)) found.push_back(mark);
    for (const char* const name : {"mpipriv1_", "mpipriv1__", "mpipriv1", "MPIPRIV1"})
      if (const auto* const common = static_cast<const int*>(dlsym(RTLD_DEFAULT, name)))
        found.push_back(common + 1);
    return found;
  }();
  return std::ranges::find(marks, data) != marks.end();
}

Integers integers(const void* values, std::int64_t size, int each_bytes) {
  const auto length = static_cast<std::size_t>(size < 0 ? 0 : size);
  if (each_bytes == sizeof(std::int64_t)) return {static_cast<const std::int64_t*>(values), length};
  return {static_cast<const std::int32_t*>(values), length};
}

/// One side, with what has to live as long as it.
class FortranSide {
 public:
  explicit FortranSide(const nuice_blocks_f& given) : given_(given) {
    for (std::int64_t i = 0; given.types != nullptr && i < given.num_types; ++i)
      types_.push_back(type_of(given.types[i]));
    for (MPI_Datatype& type : types_)
      if (given.stride != 0 && type != MPI_DATATYPE_NULL) {
        MPI_Type_create_resized(type, 0, static_cast<MPI_Aint>(given.stride), &type);
        MPI_Type_commit(&type);
      }
  }
  FortranSide(const FortranSide&) = delete;
  FortranSide& operator=(const FortranSide&) = delete;
  ~FortranSide() {
    for (MPI_Datatype& type : types_)
      if (given_.stride != 0 && type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  }

  template <typename Data>
  mpi::Blocks<Data> blocks(Data* data) const {
    static const MPI_Datatype none[] = {MPI_DATATYPE_NULL};
    return {.data = data,
            .counts = integers(given_.counts, given_.num_blocks, given_.count_bytes),
            .displs = integers(given_.displs, given_.num_blocks, given_.displ_bytes),
            .types = types_.empty() ? std::span(none) : std::span<const MPI_Datatype>(types_),
            .room = given_.bytes == NUICE_ANY_ROOM ? max_bytes : given_.bytes};
  }
  const void* to_send() const { return is_in_place_of_fortran(given_.data) ? MPI_IN_PLACE : given_.data; }
  void* to_receive() const { return const_cast<void*>(given_.data); }

 private:
  const nuice_blocks_f& given_;
  std::vector<MPI_Datatype> types_;
};

constexpr Call all_v = {.is_neighbor = false, .has_types = false};
constexpr Call all_w = {.is_neighbor = false, .has_types = true};
constexpr Call neighbor_v = {.is_neighbor = true, .has_types = false};
constexpr Call neighbor_w = {.is_neighbor = true, .has_types = true};

}  // namespace
}  // namespace nuice::capi

using namespace nuice::capi;

int nuice_alltoallv_init(const void* send, const int send_counts[], const int send_displs[],
                         MPI_Datatype send_type, void* receive, const int receive_counts[],
                         const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                         nuice_request* request) {
  return run_c(all_v, send, send_counts, send_displs, std::span(&send_type, 1), receive, receive_counts,
               receive_displs, std::span(&receive_type, 1), comm, info, request);
}

int nuice_alltoallv_init_c(const void* send, const MPI_Count send_counts[], const MPI_Aint send_displs[],
                           MPI_Datatype send_type, void* receive, const MPI_Count receive_counts[],
                           const MPI_Aint receive_displs[], MPI_Datatype receive_type, MPI_Comm comm,
                           MPI_Info info, nuice_request* request) {
  return run_c(all_v, send, send_counts, send_displs, std::span(&send_type, 1), receive, receive_counts,
               receive_displs, std::span(&receive_type, 1), comm, info, request);
}

int nuice_alltoallw_init(const void* send, const int send_counts[], const int send_displs[],
                         const MPI_Datatype send_types[], void* receive, const int receive_counts[],
                         const int receive_displs[], const MPI_Datatype receive_types[], MPI_Comm comm,
                         MPI_Info info, nuice_request* request) {
  return run_c(all_w, send, send_counts, send_displs, each(send_types), receive, receive_counts,
               receive_displs, each(receive_types), comm, info, request);
}

int nuice_alltoallw_init_c(const void* send, const MPI_Count send_counts[], const MPI_Aint send_displs[],
                           const MPI_Datatype send_types[], void* receive, const MPI_Count receive_counts[],
                           const MPI_Aint receive_displs[], const MPI_Datatype receive_types[], MPI_Comm comm,
                           MPI_Info info, nuice_request* request) {
  return run_c(all_w, send, send_counts, send_displs, each(send_types), receive, receive_counts,
               receive_displs, each(receive_types), comm, info, request);
}

int nuice_neighbor_alltoallv_init(const void* send, const int send_counts[], const int send_displs[],
                                  MPI_Datatype send_type, void* receive, const int receive_counts[],
                                  const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm,
                                  MPI_Info info, nuice_request* request) {
  return run_c(neighbor_v, send, send_counts, send_displs, std::span(&send_type, 1), receive, receive_counts,
               receive_displs, std::span(&receive_type, 1), comm, info, request);
}

int nuice_neighbor_alltoallv_init_c(const void* send, const MPI_Count send_counts[],
                                    const MPI_Aint send_displs[], MPI_Datatype send_type, void* receive,
                                    const MPI_Count receive_counts[], const MPI_Aint receive_displs[],
                                    MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                    nuice_request* request) {
  return run_c(neighbor_v, send, send_counts, send_displs, std::span(&send_type, 1), receive, receive_counts,
               receive_displs, std::span(&receive_type, 1), comm, info, request);
}

int nuice_neighbor_alltoallw_init(const void* send, const int send_counts[], const MPI_Aint send_displs[],
                                  const MPI_Datatype send_types[], void* receive, const int receive_counts[],
                                  const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                  MPI_Comm comm, MPI_Info info, nuice_request* request) {
  return run_c(neighbor_w, send, send_counts, send_displs, each(send_types), receive, receive_counts,
               receive_displs, each(receive_types), comm, info, request);
}

int nuice_neighbor_alltoallw_init_c(const void* send, const MPI_Count send_counts[],
                                    const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                    void* receive, const MPI_Count receive_counts[],
                                    const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                    MPI_Comm comm, MPI_Info info, nuice_request* request) {
  return run_c(neighbor_w, send, send_counts, send_displs, each(send_types), receive, receive_counts,
               receive_displs, each(receive_types), comm, info, request);
}

int nuice_alltoallv_init_f(int call, const nuice_blocks_f* send, const nuice_blocks_f* receive,
                           nuice_fint comm, const char* options, const char* fault, nuice_request* request) {
  return guarded_mpi([&] {
    const MPI_Comm own = comm_of(comm);
    PlanOptions chosen = options_of(options);
    note(place_in(own).rank, chosen, [&] {
      if (fault != nullptr && *fault != '\0') refuse(fault);
      at(send, "send"), at(receive, "receive");
    });
    const nuice_blocks_f none{};
    const FortranSide from(send == nullptr ? none : *send);
    const FortranSide to(receive == nullptr ? none : *receive);
    run({(call & NUICE_CALL_NEIGHBOR) != 0, (call & NUICE_CALL_TYPES) != 0}, from.blocks(from.to_send()),
        to.blocks(to.to_receive()), own, std::move(chosen), request);
  });
}

int nuice_start(nuice_request request) { return nuice_exchange_start(request); }
int nuice_test(nuice_request request, int* done) { return nuice_exchange_test(request, done); }
int nuice_wait(nuice_request request) { return nuice_exchange_wait(request); }
int nuice_free(nuice_request* request) { return nuice_exchange_free(request); }
