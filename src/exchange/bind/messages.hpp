// SPDX-License-Identifier: BSD-3-Clause
// Messages of any MPI datatypes, each with a type, a count and a place of its own, as MPI_Alltoallw has them.
//
// Both ends of a message have the same bytes, but perhaps other elements: ten doubles here, one vector of ten there. Executors cut
// between elements, and need those of both ends to have one size. So each end tells the other its count, and for the executors
// a message has gcd(counts) elements, each of several of the user's.
#pragma once

#include <span>
#include <vector>

#include "exchange/bind/arrivals.hpp"
#include "exchange/bind/layout.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

inline Bytes bytes_of(std::int64_t count, MPI_Datatype type) { return count * size_of(type); }

/// The messages of a slice, as the user has given them.
struct CheckedMessages {
  CheckedMessages() = default;
  /// Not collective. Those with bytes. Throws Error invalid_argument for a rank that is none, no datatype or a negative count; limit;
  /// mismatch where the plan has other messages. The pair is named.
  CheckedMessages(const Slice& slice, std::span<const Outgoing> all_sends,
                  std::span<const Incoming> all_receives);
  /// Not collective. A buffer for every partner of the slice. Throws Error invalid_argument, which names the pair, where one has no
  /// room for its message.
  CheckedMessages(const Slice& slice, std::span<const SendBuffer> send,
                  std::span<const ReceiveBuffer> receive);
  /// Not collective. Likewise, where all buffers of a side lie in one array.
  CheckedMessages(const Slice& slice, const SendArray& send, const ReceiveArray& receive);

  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;   ///< Of messages: by ascending rank, those of one rank in their order.
  std::vector<std::size_t> places;  ///< Of receives, among all that were given; none of buffers.

  /// Whether each is plain bytes in one place.
  bool are_plain() const;
  std::vector<Partner> destinations() const;
};

/// Tells the arrivals which ranks send, and where their data go. are_plain: it is bytes in one place.
void set_sources(Arrivals& arrivals, std::span<const Partner> sources, const CheckedMessages& messages,
                 bool are_plain);

/// Collective. tag: this one and the next are used by nothing else meanwhile.
Layout layout_of(const Communicator& comm, const CheckedMessages& messages, int tag);
/// Not collective. Of messages that are plain bytes on all ranks. in_parts: some rank of the plan lists a partner several times.
Layout layout_of_bytes(const CheckedMessages& messages, bool in_parts);

/// Not collective. What exchanges in place: messages with other ranks, which are sent from memory that every start copies them to.
/// Throws Error as CheckedMessages().
void stage(std::span<const Incoming> all, Rank rank, Rank num_ranks, std::vector<Incoming>& messages,
           std::vector<Outgoing>& sends, std::vector<std::byte>& memory);

/// That copy, as a message of the rank to itself.
Layout layout_of_staged(std::span<const Incoming> messages, std::span<std::byte> memory, Rank self);

}  // namespace nuice::mpi
