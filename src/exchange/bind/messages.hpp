// SPDX-License-Identifier: BSD-3-Clause
// Messages of any MPI datatypes. Each has its own type, count and address, as in MPI_Alltoallw.
//
// Both ends of a message have the same bytes, but possibly different elements: ten doubles at one end, one
// vector of ten at the other. Executors cut messages between elements, and need elements of one size at both
// ends. So each end sends the other its count. For executors a message then has gcd(counts) elements, each of
// which consists of several of the user's elements.
#pragma once

#include <span>
#include <vector>

#include "exchange/bind/arrivals.hpp"
#include "exchange/bind/layout.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

inline Bytes bytes_of(std::int64_t count, MPI_Datatype type) { return count * size_of(type); }

// These functions turn the user's messages into a layout of the user's elements. Places are in the user's
// order, but the receives of given_messages() are by ascending rank, and in the user's order for each rank.
// Not collective. Errors name the pair of ranks.

/// Takes the messages that have bytes. indices: set to the index of each receive among all given receives.
/// Throws Error `invalid_argument` for a wrong rank, a null datatype or a negative count; `limit` for a
/// message above 2^62 bytes; `mismatch` if the plan has other messages.
Layout given_messages(const Slice& slice, std::span<const Outgoing> sends, std::span<const Incoming> receives,
                      std::vector<std::size_t>& indices);
/// Takes one buffer per partner. Throws Error `invalid_argument` if a buffer is too small for its message.
Layout given_buffers(const Slice& slice, std::span<const SendBuffer> send,
                     std::span<const ReceiveBuffer> receive);
/// Takes one array per side, which contains all buffers of that side. Throws Error `invalid_argument` if a
/// buffer does not fit.
Layout given_array(const Slice& slice, const SendArray& send, const ReceiveArray& receive);

/// Return the places of messages without checking them. Empty messages are included.
Layout::ByRank places_of(std::span<const Outgoing> messages);
Layout::ByRank places_of(std::span<const Incoming> messages);
/// Whether each message is plain bytes in one place.
bool are_plain(const Layout& given);
std::vector<Partner> partners_of(std::span<const Layout::Place> places);

/// Tells the arrivals which ranks send, and where their data belongs. given: a layout of plain bytes in one
/// place.
void set_sources(Arrivals& arrivals, std::span<const Partner> sources, const Layout& given);
/// Tells the arrivals which ranks send, if a message's data has several places.
void set_sources(Arrivals& arrivals, std::span<const Partner> sources);

/// Collective. Returns the layout for executors. tag: no other message uses this tag and the next one during
/// the call.
Layout layout_of(const Communicator& comm, const Layout& given, int tag);
/// Not collective. Returns the layout for executors if all messages are plain bytes on all ranks. in_parts:
/// whether any rank lists a partner several times.
Layout layout_of_bytes(const Layout& given, bool in_parts);

/// Not collective. Prepares an exchange in place: at every start, messages to other ranks are copied to
/// `memory` and sent from there. Throws Error like given_messages().
void stage(std::span<const Incoming> all, Rank rank, Rank num_ranks, std::vector<Incoming>& messages,
           std::vector<Outgoing>& sends, std::vector<std::byte>& memory);

/// Returns the layout of the copy that stage() prepares. The copy is a message of the rank to itself.
Layout layout_of_staged(std::span<const Incoming> messages, std::span<std::byte> memory, Rank self);

}  // namespace nuice::mpi
