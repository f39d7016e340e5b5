// SPDX-License-Identifier: BSD-3-Clause
// Exchanges with the arguments of MPI_Alltoallv_init and related functions, planned once.
//
//   // contiguous ranges; counts and displacements in elements
//   auto x = nuice::mpi::alltoallv_init(comm, s, sc, sd, r, rc, rd);
//   for (int i = 0; i < steps; ++i) x.start(), x.wait();
//
// Counts and displacements may be integers of 32 or 64 bits. Blocks of zero elements are not sent.
// Arrival::index is the number of the block: the rank, or the position of the neighbour. The scheduler is
// `auto` unless the options name another.
//
// Errors, the same on all ranks: code `invalid_argument` for a negative count, blocks that overlap in the
// receive buffer (detected only for datatypes without gaps), blocks outside their range, a communicator
// without neighbours, or an intercommunicator; code `mismatch` if a rank expects a different number of bytes
// than is sent to it. The text names the rank or the pair. Other errors are as for Plan and
// Plan::bind_messages().
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

/// A view of an array of integers of 32 or 64 bits.
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
  /// Returns the memory of the first `count` integers; requires count <= size().
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

/// The send or receive side of a call. Block i has counts[i] elements and begins displs[i] elements after
/// data.
template <typename Data>
struct Blocks {
  Data* data = nullptr;
  Integers counts = {};
  Integers displs = {};
  /// The type of the elements of all blocks; if empty, elements are bytes.
  std::span<const MPI_Datatype> types = {};
  /// Whether each block has its own type, and displs are in bytes, as in MPI_Alltoallw.
  bool each_has_a_type = false;
  Bytes element_bytes = 1;  ///< The size of an element if there are no types.
  Bytes room = max_bytes;   ///< The size of the buffer in bytes; max_bytes: not checked.
};
using SendBlocks = Blocks<const void>;
using ReceiveBlocks = Blocks<void>;

/// An argument that replaces the send buffer: the contents of the receive buffer are sent, as with
/// MPI_IN_PLACE.
struct InPlace {};
inline constexpr InPlace in_place = {};

/// Collective. Replaces MPI_Alltoallv_init and MPI_Alltoallw_init, with one block for each rank. The buffers
/// must stay valid until Exchange::free(); all other arguments may be freed earlier.
Exchange alltoallv_init(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive,
                        const PlanOptions& options = {});
Exchange alltoallv_init(MPI_Comm comm, InPlace, const ReceiveBlocks& blocks, const PlanOptions& options = {});
/// Collective. Replaces MPI_Neighbor_alltoallv_init and MPI_Neighbor_alltoallw_init, with one block for each
/// neighbour of a communicator made by MPI_Cart_create, MPI_Graph_create or MPI_Dist_graph_create(_adjacent).
Exchange neighbor_alltoallv_init(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive,
                                 const PlanOptions& options = {});

// Collective. The functions below replace MPI_Alltoallv, MPI_Alltoallw and their neighbourhood forms. They
// need neither init nor a plan, so any rank may use other counts in every call. The library keeps the last 16
// different sets of arguments with the communicator; a call with one of these sets needs no set-up. Only the
// first call on a communicator waits for ranks that have no message for this rank. The options hosts and
// watchdog in NUICE_OPTIONS of rank 0 apply.
// Errors: in the first call as for alltoallv_init(). Later, an error of one rank reaches the other ranks
// while they wait, or in their next call; every later call on this communicator then fails with the same
// error. Buffers may be freed after the error: a rank that has failed waits at most one second until its
// messages are read, and only a rank that was stopped during this second may still read them. As in MPI, a
// rank waits for a message that it expects but that is never sent, unless there is a watchdog.
void alltoallv(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive);
void alltoallv(MPI_Comm comm, InPlace, const ReceiveBlocks& blocks);
void neighbor_alltoallv(MPI_Comm comm, const SendBlocks& send, const ReceiveBlocks& receive);

template <typename Range>
concept Elements = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                   std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;
template <typename Range>
concept Counts = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                 std::integral<std::ranges::range_value_t<Range>>;

/// Describes the blocks of a contiguous range, which must lie inside it. Elements are copied byte by byte.
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

/// Collective. Calls alltoallv_init() with contiguous ranges of elements that may be copied byte by byte.
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
