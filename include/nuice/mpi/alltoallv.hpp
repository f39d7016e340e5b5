// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that read like MPI's: the arguments of MPI_Alltoallv_init and its relatives, planned once.
//
//   auto x = nuice::mpi::alltoallv_init(comm, s, sc, sd, r, rc, rd);        // contiguous ranges; counts and displacements in elements
//   for (int i = 0; i < steps; ++i) x.start(), x.wait();
//
// Counts and displacements may be any integers of 32 or 64 bits. Blocks of zero elements are no messages. Arrival::index is the number of
// the block: the rank, or which neighbour. The plan is that of the scheduler `auto` unless the options say otherwise.
//
// Errors, the same on all ranks: invalid_argument for a negative count, blocks that overlap in the receive buffer (found for datatypes
// without gaps), blocks outside of their range, a communicator without neighbours or an intercommunicator; mismatch where a rank
// expects other bytes than are sent to it; the rank or the pair is named. Otherwise as Plan and Plan::bind_messages().
#pragma once

#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ranges>
#include <span>
#include <type_traits>

#include "nuice/mpi/exchange.hpp"
#include "nuice/mpi/options.hpp"

namespace nuice::mpi {

/// An array of integers of 32 or 64 bits, as it lies in memory.
class Integers {
 public:
  static constexpr std::size_t as_many_as_needed = std::numeric_limits<std::size_t>::max();

  Integers() = default;
  template <std::integral Value>
    requires(sizeof(Value) == 4 || sizeof(Value) == 8)
  Integers(const Value* values, std::size_t size)
      : data_(reinterpret_cast<const std::byte*>(values)), size_(size), each_(sizeof(Value)) {}

  bool is_null() const { return data_ == nullptr; }
  std::size_t size() const { return size_; }
  /// Of the first `count` of them, of which there are as many.
  std::span<const std::byte> bytes(std::size_t count) const { return {data_, count * each_}; }
  std::int64_t operator[](std::size_t i) const {
    return each_ == sizeof(std::int32_t) ? at<std::int32_t>(i) : at<std::int64_t>(i);
  }

 private:
  template <typename Value>
  Value at(std::size_t i) const {
    Value value;
    std::memcpy(&value, data_ + i * sizeof(Value), sizeof(Value));
    return value;
  }

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t each_ = sizeof(std::int32_t);
};

/// One side of such a call: block i has counts[i] elements and begins displs[i] elements behind data.
template <typename Data>
struct Blocks {
  Data* data = nullptr;
  Integers counts = {};
  Integers displs = {};
  /// One for all blocks; none: bytes.
  std::span<const MPI_Datatype> types = {};
  /// As in MPI_Alltoallw: one type for each, and displs in bytes.
  bool each_has_a_type = false;
  Bytes element_bytes = 1;  ///< Without types.
  Bytes room = max_bytes;   ///< Bytes from data on; max_bytes: not checked.
};
using SendBlocks = Blocks<const void>;
using ReceiveBlocks = Blocks<void>;

/// Instead of a send buffer: the contents of the receive buffer are sent, as with MPI_IN_PLACE.
struct InPlace {};
inline constexpr InPlace in_place = {};

/// Collective. As MPI_Alltoallv_init and MPI_Alltoallw_init: one block for each rank. The memory of the buffers must stay until
/// Exchange::free(), all else may go.
Exchange alltoallv_init(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive,
                        const PlanOptions& options = {});
Exchange alltoallv_init(MPI_Comm comm, InPlace, const ReceiveBlocks& blocks, const PlanOptions& options = {});
/// Collective. As MPI_Neighbor_alltoallv_init and MPI_Neighbor_alltoallw_init: one block for each neighbour of a communicator made by
/// MPI_Cart_create, MPI_Graph_create or MPI_Dist_graph_create(_adjacent).
Exchange neighbor_alltoallv_init(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive,
                                 const PlanOptions& options = {});

// Collective. As MPI_Alltoallv, MPI_Alltoallw and their neighbours: the whole exchange, without init and without a plan, so that counts may
// differ in every call, on any ranks. Up to 16 sets of arguments are kept with the communicator; a call with known ones
// sets nothing up. Only the first call on a communicator waits for ranks that have no message for this one. NUICE_OPTIONS of rank 0 holds
// (hosts, watchdog).
// Errors: in the first call as above. Later, errors of one rank reach the others while they wait, or in their next call; every call on
// this communicator then fails with the same error. Buffers may be freed then: a rank that has failed waits until what it sends is read,
// for a second at most, and only a rank that is stopped meanwhile may still read it. A rank that expects a message that is not sent
// waits as in MPI, unless there is a watchdog.
void alltoallv(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive);
void alltoallv(MPI_Comm comm, InPlace, const ReceiveBlocks& blocks);
void neighbor_alltoallv(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive);

template <typename Range>
concept Elements = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                   std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;
template <typename Range>
concept Counts = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                 std::integral<std::ranges::range_value_t<Range>>;

/// Blocks of a contiguous range, which must lie inside it. The elements travel as they lie in memory.
template <Elements Range>
SendBlocks send_blocks(const Range& range, const Counts auto& counts, const Counts auto& displs) {
  constexpr auto each = static_cast<Bytes>(sizeof(std::ranges::range_value_t<Range>));
  return {.data = std::ranges::data(range),
          .counts = {std::ranges::data(counts), std::ranges::size(counts)},
          .displs = {std::ranges::data(displs), std::ranges::size(displs)},
          .element_bytes = each,
          .room = each * static_cast<Bytes>(std::ranges::size(range))};
}
template <Elements Range>
ReceiveBlocks receive_blocks(Range&& range, const Counts auto& counts, const Counts auto& displs) {
  constexpr auto each = static_cast<Bytes>(sizeof(std::ranges::range_value_t<Range>));
  return {.data = std::ranges::data(range),
          .counts = {std::ranges::data(counts), std::ranges::size(counts)},
          .displs = {std::ranges::data(displs), std::ranges::size(displs)},
          .element_bytes = each,
          .room = each * static_cast<Bytes>(std::ranges::size(range))};
}

/// Collective. The same with contiguous ranges of any elements that may be copied byte by byte.
template <Elements Send, Elements Receive>
Exchange alltoallv_init(MPI_Comm comm, const Send& send, const Counts auto& send_counts,
                        const Counts auto& send_displs, Receive&& receive, const Counts auto& receive_counts,
                        const Counts auto& receive_displs, const PlanOptions& options = {}) {
  return alltoallv_init(comm, send_blocks(send, send_counts, send_displs),
                        receive_blocks(receive, receive_counts, receive_displs), options);
}
template <Elements Range>
Exchange alltoallv_init(MPI_Comm comm, InPlace, Range&& range, const Counts auto& counts,
                        const Counts auto& displs, const PlanOptions& options = {}) {
  return alltoallv_init(comm, in_place, receive_blocks(range, counts, displs), options);
}
template <Elements Send, Elements Receive>
Exchange neighbor_alltoallv_init(MPI_Comm comm, const Send& send, const Counts auto& send_counts,
                                 const Counts auto& send_displs, Receive&& receive,
                                 const Counts auto& receive_counts, const Counts auto& receive_displs,
                                 const PlanOptions& options = {}) {
  return neighbor_alltoallv_init(comm, send_blocks(send, send_counts, send_displs),
                                 receive_blocks(receive, receive_counts, receive_displs), options);
}

template <Elements Send, Elements Receive>
void alltoallv(MPI_Comm comm, const Send& send, const Counts auto& send_counts,
               const Counts auto& send_displs, Receive&& receive, const Counts auto& receive_counts,
               const Counts auto& receive_displs) {
  alltoallv(comm, send_blocks(send, send_counts, send_displs),
            receive_blocks(receive, receive_counts, receive_displs));
}
template <Elements Range>
void alltoallv(MPI_Comm comm, InPlace, Range&& range, const Counts auto& counts, const Counts auto& displs) {
  alltoallv(comm, in_place, receive_blocks(range, counts, displs));
}
template <Elements Send, Elements Receive>
void neighbor_alltoallv(MPI_Comm comm, const Send& send, const Counts auto& send_counts,
                        const Counts auto& send_displs, Receive&& receive, const Counts auto& receive_counts,
                        const Counts auto& receive_displs) {
  neighbor_alltoallv(comm, send_blocks(send, send_counts, send_displs),
                     receive_blocks(receive, receive_counts, receive_displs));
}

}  // namespace nuice::mpi
