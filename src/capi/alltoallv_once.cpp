// SPDX-License-Identifier: BSD-3-Clause
// The calls with MPI's arguments that exchange at once.
#include <span>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "capi/mpi_arguments.hpp"
#include "exchange/calls/kept_calls.hpp"

namespace nuice::capi {
namespace {

/// fault: an error found before the call, which all ranks are to report.
int run(CallKind call, mpi::SendBlocks send, mpi::ReceiveBlocks receive, MPI_Comm comm,
        const Outcome& fault) {
  const int status = guarded_mpi([&] {
    const bool is_in_place = send.data == MPI_IN_PLACE;
    send.each_has_a_type = receive.each_has_a_type = call.has_types;
    mpi::CallArguments arguments = {call.is_neighbor, is_in_place, send, receive, fault};
    if (!fault && is_in_place && call.is_neighbor)
      arguments.fault = Error(ErrorCode::invalid_argument, "neighbourhood exchanges cannot be in place");
    mpi::run_kept(comm, arguments);
  });
  if (status != NUICE_OK) call_handler(comm);
  return status;
}

}  // namespace
}  // namespace nuice::capi

using namespace nuice::capi;

#define NUICE_DEFINE(name, c, kind, Count, Displ, Types)                                      \
  int nuice_##name##c(const void* send, const Count send_counts[], const Displ send_displs[], \
                      Types send_types, void* receive, const Count receive_counts[],          \
                      const Displ receive_displs[], Types receive_types, MPI_Comm comm) {     \
    return run(kind, blocks(send, send_counts, send_displs, send_types),                      \
               blocks(receive, receive_counts, receive_displs, receive_types), comm, {});     \
  }
NUICE_FOR_EACH_CALL(NUICE_DEFINE)
#undef NUICE_DEFINE

int nuice_alltoallv_f(int call, const nuice_blocks_f* send, const nuice_blocks_f* receive, nuice_fint comm,
                      const char* fault) {
  nuice::Outcome wrong;
  if (fault != nullptr && *fault != '\0')
    wrong = nuice::Error(nuice::ErrorCode::invalid_argument, fault);
  else if (send == nullptr || receive == nullptr)
    wrong = nuice::Error(nuice::ErrorCode::invalid_argument, "send or receive is NULL");
  int status = NUICE_OK;
  const int guard = guarded([&] {
    const nuice_blocks_f none{};
    const FortranSide from(send == nullptr ? none : *send);
    const FortranSide to(receive == nullptr ? none : *receive);
    status =
        run(kind_of(call), from.blocks(from.to_send()), to.blocks(to.to_receive()), comm_of(comm), wrong);
  });
  return guard == NUICE_OK ? status : guard;
}
