// SPDX-License-Identifier: BSD-3-Clause
// The calls with MPI's arguments that make requests.
#include "nuice/mpi/alltoallv.hpp"

#include <string>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "capi/mpi_arguments.hpp"

namespace nuice::capi {
namespace {

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

void run(CallKind call, SendBlocks send, ReceiveBlocks receive, MPI_Comm comm, PlanOptions options,
         nuice_request* request) {
  if (request != nullptr) *request = nullptr;
  const bool is_in_place = send.data == MPI_IN_PLACE;
  note(place_in(comm).rank, options, [&] {
    at(request, "request");
    if (is_in_place && call.is_neighbor) refuse("neighbourhood exchanges cannot be in place");
  });
  send.each_has_a_type = receive.each_has_a_type = call.has_types;
  keep(request, call.is_neighbor ? mpi::neighbor_alltoallv_init(comm, send, receive, options)
                : is_in_place    ? mpi::alltoallv_init(comm, mpi::in_place, receive, options)
                                 : mpi::alltoallv_init(comm, send, receive, options));
}

}  // namespace
}  // namespace nuice::capi

using namespace nuice::capi;

#define NUICE_DEFINE(name, c, kind, Count, Displ, Types)                                             \
  int nuice_##name##_init##c(const void* send, const Count send_counts[], const Displ send_displs[], \
                             Types send_types, void* receive, const Count receive_counts[],          \
                             const Displ receive_displs[], Types receive_types, MPI_Comm comm,       \
                             MPI_Info info, nuice_request* request) {                                \
    const int status = guarded_mpi([&] {                                                             \
      run(kind, blocks(send, send_counts, send_displs, send_types),                                  \
          blocks(receive, receive_counts, receive_displs, receive_types), comm,                      \
          options_of(text_in(info).c_str()), request);                                               \
    });                                                                                              \
    if (status != NUICE_OK) call_handler(comm);                                                      \
    return status;                                                                                   \
  }
NUICE_FOR_EACH_CALL(NUICE_DEFINE)
#undef NUICE_DEFINE

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
    run(kind_of(call), from.blocks(from.to_send()), to.blocks(to.to_receive()), own, std::move(chosen),
        request);
  });
}

int nuice_start(nuice_request request) { return nuice_exchange_start(request); }
int nuice_test(nuice_request request, int* done) { return nuice_exchange_test(request, done); }
int nuice_wait(nuice_request request) { return nuice_exchange_wait(request); }
int nuice_free(nuice_request* request) { return nuice_exchange_free(request); }
