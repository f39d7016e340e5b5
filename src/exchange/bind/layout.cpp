// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/bind/layout.hpp"

#include <algorithm>
#include <utility>

#include "mpi/call.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

__extension__ using Wide = __int128;

}  // namespace

std::int64_t share(std::int64_t count, Bytes offset, Bytes whole) {
  return static_cast<std::int64_t>(static_cast<Wide>(count) * offset / whole);
}

void add_share(const Segment& all, MessageRange of_all, Bytes offset, Bytes bytes, Places& places) {
  const auto [begin, whole] = of_all;
  if (whole == 0) return;
  const auto element_at = [&](Bytes at) {
    return share(all.count, std::clamp<Bytes>(at - begin, 0, whole), whole);
  };
  const std::int64_t first = element_at(offset);
  const std::int64_t end = element_at(offset + bytes);
  if (first >= end) return;
  std::byte* const at = first == 0 ? all.at : all.at + first * extent_of(all.type);
  places.push_back({at, end - first, all.type});
}

std::vector<std::int64_t> exchange_numbers(const Communicator& comm, std::vector<std::int64_t> mine,
                                           std::span<const NumbersFor> sends, std::size_t num_theirs,
                                           std::span<const NumbersFor> receives, int width) {
  std::vector<std::int64_t> theirs(num_theirs);
  std::vector<MPI_Request> receiving(receives.size(), MPI_REQUEST_NULL);
  std::vector<MPI_Request> sending(sends.size(), MPI_REQUEST_NULL);
  try {
    for (std::size_t i = 0; i < receives.size(); ++i)
      must(MPI_Irecv(&theirs[receives[i].at], width, MPI_INT64_T, receives[i].partner, receives[i].tag,
                     comm.get(), &receiving[i]),
           "MPI_Irecv");
    for (std::size_t i = 0; i < sends.size(); ++i)
      must(MPI_Isend(&mine[sends[i].at], width, MPI_INT64_T, sends[i].partner, sends[i].tag, comm.get(),
                     &sending[i]),
           "MPI_Isend");
    wait_all(comm, receiving, "MPI_Irecv");
    wait_all(comm, sending, "MPI_Isend");
  } catch (const Error&) {
    cancel_receives(receiving);
    [[maybe_unused]] const auto* const left = new auto(std::move(mine));  // to MPI, which may still read it
    throw;
  }
  return theirs;
}

}  // namespace nuice::mpi
