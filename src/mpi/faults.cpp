// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/faults.hpp"

#include <mpi.h>

#include <array>
#include <cstring>
#include <utility>

#include "mpi/call.hpp"

namespace nuice::mpi {
namespace {

/// An error as it is sent. It is small enough for MPI to send it eagerly.
struct Fault {
  int code;
  std::array<char, 1020> text;
};

}  // namespace

void Faults::tell(const Error& error) {
  if (std::exchange(has_failed_, true)) return;
  comm_->give_up();
  auto fault = std::make_unique<Fault>(Fault{.code = static_cast<int>(error.code()), .text = {}});
  std::strncpy(fault->text.data(), error.what(), fault->text.size() - 1);
  for (Rank rank = 0; rank < comm_->num_ranks(); ++rank) {
    if (rank == comm_->rank()) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(fault.get(), sizeof *fault, MPI_BYTE, rank, tag_, comm_->get(), &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }
  leave_to_mpi(std::move(fault));
}

void Faults::hear() {
  int is_there = 0;
  must(MPI_Iprobe(MPI_ANY_SOURCE, tag_, comm_->get(), &is_there, MPI_STATUS_IGNORE), "MPI_Iprobe");
  if (is_there == 0) return;
  Fault fault = {};
  MPI_Status status;
  must(MPI_Recv(&fault, sizeof fault, MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_->get(), &status), "MPI_Recv");
  comm_->give_up();
  heard_from_ = status.MPI_SOURCE;
  has_failed_ = true;
  throw Error(static_cast<ErrorCode>(fault.code), fault.text.data());
}

}  // namespace nuice::mpi
