// SPDX-License-Identifier: BSD-3-Clause
// Persistent calls with MPI's arguments: each makes a plan.
#include "nuice/mpi/alltoallv.hpp"

#include <utility>
#include <vector>

#include "core/text/names.hpp"
#include "exchange/calls/call_side.hpp"
#include "mpi/call.hpp"
#include "mpi/communicator.hpp"
#include "mpi/discover/neighbours.hpp"
#include "mpi/requests.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::mpi {
namespace {

/// Calls step(), which checks this rank's arguments. An error of step() is put into options.fault, so that
/// all ranks learn of it.
template <typename Step>
void note_fault(MPI_Comm comm, PlanOptions& options, Step&& step) {
  if (options.fault) return;
  const Rank rank = rank_in(comm);
  options.fault = attempt(rank, [&] {
    try {
      step();
    } catch (const Error& error) {
      throw Error(error.code(), rank_name(rank) + ": " + error.what());
    }
  });
}

Exchange plan_call(MPI_Comm comm, const Neighbours& neighbours, const SendBlocks& send,
                   const ReceiveBlocks& receive, PlanOptions options) {
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  note_fault(comm, options, [&] {
    sends = CallSide(send, neighbours.destinations).messages();
    receives = CallSide(receive, neighbours.sources).messages();
    for (std::size_t i = 1; neighbours.are_opposite && i < sends.size(); i += 2)
      if (neighbours.destinations[i - 1] == neighbours.destinations[i]) std::swap(sends[i - 1], sends[i]);
  });
  Plan plan(comm, sizes_in(std::span<const Outgoing>(sends)), options);
  return plan.bind_messages(sends, receives);
}

}  // namespace

Exchange alltoallv_init(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive,
                        const PlanOptions& options) {
  check_parent(comm);
  return plan_call(comm, Neighbours::all_ranks(comm), send, receive, options);
}

Exchange alltoallv_init(MPI_Comm comm, InPlace, const ReceiveBlocks& blocks, const PlanOptions& given) {
  check_parent(comm);
  PlanOptions options = given;
  std::vector<Incoming> messages;
  note_fault(comm, options,
             [&] { messages = CallSide(blocks, Neighbours::all_ranks(comm).sources).messages(); });
  std::vector<Partner> others = sizes_in(std::span<const Incoming>(messages));
  std::erase_if(others, [me = rank_in(comm)](const Partner& other) { return other.rank == me; });
  Plan plan(comm, others, options);
  return plan.bind_in_place(messages);
}

Exchange neighbor_alltoallv_init(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive,
                                 const PlanOptions& options) {
  check_parent(comm);
  return plan_call(comm, Neighbours::of(comm), send, receive, options);
}

}  // namespace nuice::mpi
