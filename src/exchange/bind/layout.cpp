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

auto places_with(const Layout& layout, Rank partner, bool is_send) {
  return std::ranges::equal_range(is_send ? layout.send : layout.receive, partner, {}, &Layout::Place::rank);
}

}  // namespace

std::int64_t share(std::int64_t count, Bytes offset, Bytes whole) {
  return static_cast<std::int64_t>(static_cast<Wide>(count) * offset / whole);
}

/// Appends the elements to which these bytes belong. If both ends hold plain bytes, elements are given as
/// bytes, which can be joined and packed.
void Layout::find(Rank partner, bool is_send, Bytes offset, Bytes bytes, Places& places) const {
  for (const Place& place : places_with(*this, partner, is_send)) {
    if (place.bytes == 0) continue;
    const Segment& all = place.all;
    const auto element_at = [&](Bytes at) {
      return share(all.count, std::clamp<Bytes>(at - place.begin, 0, place.bytes), place.bytes);
    };
    const std::int64_t first = element_at(offset);
    const std::int64_t count = element_at(offset + bytes) - first;
    if (count <= 0) continue;
    std::byte* const at = first == 0 ? all.at : all.at + first * extent_of(all.type);
    if (are_all_bytes)
      places.push_back({at, count * size_of(all.type), MPI_BYTE});
    else
      places.push_back({at, count, all.type});
  }
}

bool Layout::one_by_one(Rank partner, bool is_send) const {
  Bytes bytes = 0;
  for (const Place& place : places_with(*this, partner, is_send))
    bytes += place.all.count * size_of(place.all.type);
  return bytes > most_together;
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
    // left to MPI, which may still read it
    [[maybe_unused]] const auto* const left = new auto(std::move(mine));
    throw;
  }
  return theirs;
}

}  // namespace nuice::mpi
