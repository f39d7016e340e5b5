// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/bind/messages.hpp"

#include <algorithm>
#include <climits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "core/partners.hpp"
#include "core/text/names.hpp"
#include "mpi/agree.hpp"
#include "mpi/requests.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

Rank partner_of(const Outgoing& message) { return message.to; }
Rank partner_of(const Incoming& message) { return message.from; }
std::string pair_of(const Outgoing& message, Rank mine) { return pair_name(mine, message.to); }
std::string pair_of(const Incoming& message, Rank mine) { return pair_name(message.from, mine); }

template <typename Message>
void check(const Message& message, Rank mine, Rank num_ranks) {
  const auto refuse = [&](ErrorCode code, const std::string& what) {
    throw Error(code, pair_of(message, mine) + ": " + what);
  };
  if (partner_of(message) < 0 || partner_of(message) >= num_ranks)
    refuse(ErrorCode::invalid_argument, "there are " + std::to_string(num_ranks) + " ranks");
  if (message.type == MPI_DATATYPE_NULL) refuse(ErrorCode::invalid_argument, "the type is MPI_DATATYPE_NULL");
  if (message.count < 0) refuse(ErrorCode::invalid_argument, "the count is " + std::to_string(message.count));
  const Bytes size = size_of(message.type);
  if (size > 0 && message.count > max_bytes / size) refuse(ErrorCode::limit, "more than 2^62 bytes");
}

/// Checks a message, and returns whether it has bytes.
template <typename Message>
bool has_bytes(const Message& message, Rank mine, Rank num_ranks) {
  check(message, mine, num_ranks);
  return bytes_of(message.count, message.type) > 0;
}

template <typename Message>
Layout::Place place_of(const Message& message) {
  const auto& [rank, data, count, type] = message;
  // A datatype's addresses are not const, even for memory that MPI only reads.
  auto* const at = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(data)));
  return {rank, {at, count, type}, 0, bytes_of(count, type)};
}

template <typename Message>
Layout::ByRank places_in(std::span<const Message> messages) {
  Layout::ByRank places;
  for (const Message& message : messages) places.push_back(place_of(message));
  return places;
}

/// Throws Error `mismatch` unless the plan and the call have the same messages, in any order. Empty messages
/// are ignored.
void require_equal(std::span<const Partner> plan, std::span<const Partner> here, Rank mine, bool is_send) {
  const auto sorted = [](std::span<const Partner> partners) {
    std::vector<Partner> kept(partners.begin(), partners.end());
    std::erase_if(kept, [](const Partner& partner) { return partner.bytes == 0; });
    std::ranges::stable_sort(kept, {}, &Partner::rank);
    return kept;
  };
  const std::vector<Partner> planned = sorted(plan);
  const std::vector<Partner> given = sorted(here);
  for (std::size_t i = 0; i < planned.size() || i < given.size(); ++i) {
    if (i < planned.size() && i < given.size() && planned[i].rank == given[i].rank &&
        planned[i].bytes == given[i].bytes)
      continue;
    const Rank rank =
        std::min(i < planned.size() ? planned[i].rank : INT_MAX, i < given.size() ? given[i].rank : INT_MAX);
    const auto bytes = [&](const std::vector<Partner>& from) {
      return std::to_string(i < from.size() && from[i].rank == rank ? from[i].bytes : 0);
    };
    throw Error(ErrorCode::mismatch, is_send ? pair_name(mine, rank) + ": the plan has " + bytes(planned) +
                                                   " bytes, the call " + bytes(given)
                                             : pair_name(rank, mine) + ": " + bytes(planned) +
                                                   " bytes are sent, " + bytes(given) + " are expected");
  }
}

/// Returns a buffer inside the array for each message.
template <typename Buffer, typename Array>
std::vector<Buffer> make_buffers(const Array& array, std::span<const Partner> partners, Rank rank) {
  using Byte = std::conditional_t<std::is_same_v<Buffer, SendBuffer>, const std::byte, std::byte>;
  const std::string who = rank_name(rank) + ": ";
  if (!array.offsets.empty() && array.offsets.size() != partners.size())
    throw Error(ErrorCode::invalid_argument, who + std::to_string(array.offsets.size()) + " offsets for " +
                                                 std::to_string(partners.size()) + " partners");
  std::vector<Buffer> buffers;
  Bytes next = 0;
  for (std::size_t i = 0; i < partners.size(); ++i) {
    const Bytes offset = array.offsets.empty() ? next : array.offsets[i];
    const Bytes bytes = partners[i].bytes;
    if (offset < 0)
      throw Error(ErrorCode::invalid_argument, who + "the offset of the message of rank " +
                                                   std::to_string(partners[i].rank) +
                                                   " is negative: " + std::to_string(offset));
    if (offset > array.bytes || bytes > array.bytes - offset)
      throw Error(ErrorCode::invalid_argument,
                  who + "the message of rank " + std::to_string(partners[i].rank) + ", " +
                      std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                      ", is not inside the array of " + std::to_string(array.bytes) + " bytes");
    buffers.push_back({array.data == nullptr ? nullptr : static_cast<Byte*>(array.data) + offset, bytes});
    next = offset + bytes;
  }
  return buffers;
}

}  // namespace

Layout given_messages(const Slice& slice, std::span<const Outgoing> sends, std::span<const Incoming> receives,
                      std::vector<std::size_t>& indices) {
  const auto [rank, num_ranks] = std::pair(slice.table.rank, slice.table.num_ranks);
  Layout given;
  for (const Outgoing& message : sends)
    if (has_bytes(message, rank, num_ranks)) given.send.push_back(place_of(message));
  for (std::size_t i = 0; i < receives.size(); ++i)
    if (has_bytes(receives[i], rank, num_ranks)) indices.push_back(i);
  std::ranges::stable_sort(indices, {}, [&](std::size_t i) { return receives[i].from; });
  for (const std::size_t i : indices) given.receive.push_back(place_of(receives[i]));
  require_equal(slice.send_to, partners_of(given.send), rank, true);
  require_equal(slice.receive_from, partners_of(given.receive), rank, false);
  return given;
}

Layout given_buffers(const Slice& slice, std::span<const SendBuffer> send,
                     std::span<const ReceiveBuffer> receive) {
  core::check_buffers({slice.table.rank, true}, slice.send_to, send);
  core::check_buffers({slice.table.rank, false}, slice.receive_from, receive);
  Layout given;
  for (std::size_t i = 0; i < send.size(); ++i)
    given.send.push_back(place_of(Outgoing{slice.send_to[i].rank, send[i].data, slice.send_to[i].bytes}));
  for (std::size_t i = 0; i < receive.size(); ++i)
    given.receive.push_back(
        place_of(Incoming{slice.receive_from[i].rank, receive[i].data, slice.receive_from[i].bytes}));
  return given;
}

Layout given_array(const Slice& slice, const SendArray& send, const ReceiveArray& receive) {
  return given_buffers(slice, make_buffers<SendBuffer>(send, slice.send_to, slice.table.rank),
                       make_buffers<ReceiveBuffer>(receive, slice.receive_from, slice.table.rank));
}

Layout::ByRank places_of(std::span<const Outgoing> messages) { return places_in(messages); }
Layout::ByRank places_of(std::span<const Incoming> messages) { return places_in(messages); }

bool are_plain(const Layout& given) {
  const auto is_plain = [](const Layout::Place& place) { return are_plain_bytes(place.all.type); };
  return std::ranges::all_of(given.send, is_plain) && std::ranges::all_of(given.receive, is_plain);
}

std::vector<Partner> partners_of(std::span<const Layout::Place> places) {
  std::vector<Partner> partners;
  for (const Layout::Place& place : places) partners.push_back({place.rank, place.bytes});
  return partners;
}

void set_sources(Arrivals& arrivals, std::span<const Partner> sources, const Layout& given) {
  std::vector<std::span<std::byte>> data(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i)
    data[i] = {given.receive[i].all.at, static_cast<std::size_t>(sources[i].bytes)};
  arrivals.set_sources(sources, data);
}

void set_sources(Arrivals& arrivals, std::span<const Partner> sources) {
  arrivals.set_sources(sources, std::vector<std::span<std::byte>>(sources.size()));
}

void stage(std::span<const Incoming> all, Rank rank, Rank num_ranks, std::vector<Incoming>& messages,
           std::vector<Outgoing>& sends, std::vector<std::byte>& memory) {
  Bytes bytes = 0;
  for (const Incoming& message : all) {
    if (!has_bytes(message, rank, num_ranks) || message.from == rank) continue;
    messages.push_back(message);
    bytes += bytes_of(message.count, message.type);
  }
  memory.resize(static_cast<std::size_t>(bytes));
  std::byte* at = memory.data();
  for (const auto& [other, data, count, type] : messages) {
    sends.push_back({other, at, bytes_of(count, type)});
    at += sends.back().count;
  }
}

namespace {

/// Sorts by rank. In the plan, the messages of one rank are one message, in which they are back to back.
Layout::ByRank by_rank(Layout::ByRank places) {
  std::ranges::stable_sort(places, {}, &Layout::Place::rank);
  for (std::size_t i = 1; i < places.size(); ++i)
    if (const Layout::Place& before = places[i - 1]; places[i].rank == before.rank)
      places[i].begin = before.begin + before.bytes;
  return places;
}

/// Returns the element counts of the other ends of all messages, sends first. For each message, each end
/// sends its count. If a pair of ranks has several messages, they are matched in order.
std::vector<std::int64_t> exchange_counts(const Communicator& comm, const Layout& layout, int tag) {
  std::vector<std::int64_t> mine;
  std::vector<NumbersFor> sends;
  std::vector<NumbersFor> receives;
  for (const bool is_send : {true, false}) {
    for (const Layout::Place& place : is_send ? layout.send : layout.receive) {
      receives.push_back({place.rank, is_send ? tag + 1 : tag, mine.size()});
      sends.push_back({place.rank, is_send ? tag : tag + 1, mine.size()});
      mine.push_back(place.all.count);
    }
  }
  const std::size_t count = mine.size();
  return exchange_numbers(comm, std::move(mine), sends, count, receives);
}

/// Makes the place consist of this number of elements. Each has a new type, which joins several of the user's
/// elements.
void join(Layout::Place& place, std::int64_t elements, std::vector<Datatype>& types) {
  const std::int64_t each = place.all.count / elements;
  if (each == 1) return;
  if (each > INT_MAX)
    throw Error(ErrorCode::limit, std::to_string(each) + " elements would have to travel as one");
  types.push_back(Datatype::contiguous(static_cast<int>(each), place.all.type));
  place.all = {place.all.at, elements, types.back().get()};
}

}  // namespace

Layout layout_of_bytes(const Layout& given, bool in_parts) {
  Layout layout;
  layout.send = by_rank(given.send);
  layout.receive = by_rank(given.receive);
  for (Layout::ByRank* const side : {&layout.send, &layout.receive})
    for (Layout::Place& place : *side) place.all = {place.all.at, place.bytes, MPI_BYTE};
  layout.are_all_bytes = true;
  layout.in_one_place = !in_parts;
  return layout;
}

Layout layout_of(const Communicator& comm, const Layout& given, int tag) {
  Layout layout;
  layout.send = by_rank(given.send);
  layout.receive = by_rank(given.receive);
  const std::vector<std::int64_t> theirs = exchange_counts(comm, layout, tag);
  all_or_none(comm, [&] {
    std::size_t i = 0;
    for (Layout::ByRank* const side : {&layout.send, &layout.receive})
      for (Layout::Place& place : *side) join(place, std::gcd(place.all.count, theirs[i++]), layout.types);
  });
  return layout;
}

Layout layout_of_staged(std::span<const Incoming> messages, std::span<std::byte> memory, Rank self) {
  Layout layout;
  layout.send = places_of(messages);
  for (Layout::Place& place : layout.send) place.rank = self;
  layout.send = by_rank(std::move(layout.send));
  layout.receive = {{self, {memory.data(), std::ssize(memory), MPI_BYTE}, 0, std::ssize(memory)}};
  return layout;
}

}  // namespace nuice::mpi
