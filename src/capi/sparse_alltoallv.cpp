// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/mpi/sparse_alltoallv.hpp"

#include <string>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"

struct nuice_received {
  nuice::mpi::Received received;
};

namespace nuice::capi {
namespace {

/// Runs a sparse exchange. If the arguments have an error, sends a message to no rank, so that the call
/// reports an error on all ranks.
template <typename List>
int run_sparse(MPI_Comm comm, nuice_received** received, List&& list) {
  return guarded_mpi([&] {
    std::vector<mpi::Outgoing> messages;
    const Outcome wrong = attempt(0, [&] { at(received, "received"), list(messages); });
    if (wrong) messages = {{-1, nullptr, 0, MPI_BYTE}};
    try {
      mpi::Received came = mpi::sparse_alltoallv(comm, messages);
      *received = new nuice_received{std::move(came)};
    } catch (const Error&) {
      if (wrong) throw Error(*wrong);
      throw;
    }
  });
}

}  // namespace
}  // namespace nuice::capi

using namespace nuice::capi;

int nuice_sparse_alltoallv(const void* send, int num_messages, const int ranks[], const int counts[],
                           const int displs[], MPI_Datatype type, MPI_Comm comm, nuice_received** received) {
  return run_sparse(comm, received, [&](std::vector<nuice::mpi::Outgoing>& messages) {
    const auto to = array(ranks, num_messages, "ranks");
    const auto sizes = array(counts, num_messages, "counts");
    const auto places = array(displs, num_messages, "displs");
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    if (type == MPI_DATATYPE_NULL) refuse("type is MPI_DATATYPE_NULL");
    if (!to.empty()) MPI_Type_get_extent(type, &lower, &extent);
    for (std::size_t i = 0; i < to.size(); ++i)
      messages.push_back({to[i], static_cast<const std::byte*>(send) + places[i] * extent, sizes[i], type});
  });
}

int nuice_sparse_alltoallv_f(int num_messages, const int ranks[], const void* const addresses[],
                             const int64_t counts[], const nuice_fint types[], nuice_fint comm,
                             nuice_received** received) {
  return run_sparse(comm_of(comm), received, [&](std::vector<nuice::mpi::Outgoing>& messages) {
    const auto to = array(ranks, num_messages, "ranks");
    const auto places = array(addresses, num_messages, "addresses");
    const auto sizes = array(counts, num_messages, "counts");
    const auto of = array(types, num_messages, "types");
    for (std::size_t i = 0; i < to.size(); ++i)
      messages.push_back({to[i], places[i], sizes[i], type_of(of[i])});
  });
}

int nuice_received_size(const nuice_received* received, int* num_messages) {
  return guarded([&] {
    at(num_messages, "num_messages") = static_cast<int>(at(received, "received").received.sources.size());
  });
}

int nuice_received_message(const nuice_received* received, int i, int* rank, int64_t* bytes,
                           const void** data) {
  return guarded([&] {
    const nuice::mpi::Received& held = at(received, "received").received;
    if (i < 0 || static_cast<std::size_t>(i) >= held.sources.size())
      refuse("there is no message " + std::to_string(i) + " of " + std::to_string(held.sources.size()));
    const auto which = static_cast<std::size_t>(i);
    if (rank != nullptr) *rank = held.sources[which].rank;
    if (bytes != nullptr) *bytes = held.sources[which].bytes;
    if (data != nullptr) *data = held.data.get() + held.offsets[which];
  });
}

int nuice_received_free(nuice_received** received) { return free_handle(received); }
