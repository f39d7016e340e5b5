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

// What the user gives for the messages of a slice, as a layout of his elements, in his order (messages: receives by ascending rank,
// those of one rank in their order). Not collective. Errors name the pair.

/// Those with bytes. indices: of the receives, among all that were given. Throws Error invalid_argument for a rank that is none, no
/// datatype or a negative count; limit; mismatch where the plan has other messages.
Layout given_messages(const Slice& slice, std::span<const Outgoing> sends, std::span<const Incoming> receives,
                      std::vector<std::size_t>& indices);
/// A buffer for every partner. Throws Error invalid_argument where one has no room for its message.
Layout given_buffers(const Slice& slice, std::span<const SendBuffer> send,
                     std::span<const ReceiveBuffer> receive);
/// Likewise, where all buffers of a side lie in one array.
Layout given_array(const Slice& slice, const SendArray& send, const ReceiveArray& receive);

/// Unchecked, empty ones too.
Layout::ByRank places_of(std::span<const Outgoing> messages);
Layout::ByRank places_of(std::span<const Incoming> messages);
/// Whether each message is plain bytes in one place.
bool are_plain(const Layout& given);
std::vector<Partner> partners_of(std::span<const Layout::Place> places);

/// Tells the arrivals which ranks send, and where their data go. given: of plain bytes in one place.
void set_sources(Arrivals& arrivals, std::span<const Partner> sources, const Layout& given);
/// Likewise, where the data of a message have no one place.
void set_sources(Arrivals& arrivals, std::span<const Partner> sources);

/// Collective. What executors get. tag: this one and the next are used by nothing else meanwhile.
Layout layout_of(const Communicator& comm, const Layout& given, int tag);
/// Not collective. The same of messages that are plain bytes on all ranks. in_parts: some rank lists a partner several times.
Layout layout_of_bytes(const Layout& given, bool in_parts);

/// Not collective. What exchanges in place: messages with other ranks, which are sent from memory that every start copies them to.
/// Throws Error as given_messages().
void stage(std::span<const Incoming> all, Rank rank, Rank num_ranks, std::vector<Incoming>& messages,
           std::vector<Outgoing>& sends, std::vector<std::byte>& memory);

/// That copy, as a message of the rank to itself.
Layout layout_of_staged(std::span<const Incoming> messages, std::span<std::byte> memory, Rank self);

}  // namespace nuice::mpi
