// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/bind/whole_messages.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/call.hpp"

namespace nuice::mpi {
namespace {

using Elements = std::vector<TableElements::Elements>;

/// Returns the packed sizes of the messages that this rank sends to other ranks, or receives from them.
std::map<Rank, Bytes> sizes_of(const Elements& elements) {
  std::map<Rank, Bytes> sizes;
  for (const auto& [partner, segment] : elements) sizes[partner] += segment.count * size_of(segment.type);
  return sizes;
}

/// Returns a table with one entry for each message. If the user lists a rank several times, the table has one
/// entry for it.
PhaseTable by_message(const PhaseTable& of) {
  PhaseTable table;
  table.rank = of.rank;
  table.num_ranks = of.num_ranks;
  table.num_phases = 1;
  for (const auto& [rank, bytes] : of.destinations)
    if (rank != table.rank) table.entries.push_back({.send_partner = rank, .send_bytes = bytes});
  for (const auto& [rank, bytes] : of.sources)
    if (rank != table.rank) table.entries.push_back({.recv_partner = rank, .recv_bytes = bytes});
  return table;
}

/// Removes the messages that are not taken. Returns whether all are taken.
bool keep(const std::function<bool(Rank, Bytes)>& takes, Elements& elements, std::map<Rank, Bytes>& sizes) {
  const std::size_t left =
      std::erase_if(sizes, [&](const auto& message) { return !takes(message.first, message.second); });
  std::erase_if(elements, [&](const auto& element) { return !sizes.contains(element.partner); });
  return left == 0;
}

}  // namespace

WholeMessages WholeMessages::of(const PhaseTable& table, const Layout& layout,
                                const std::function<bool(Rank, Bytes)>& takes) {
  WholeMessages messages;
  messages.elements = list_elements(by_message(table), layout);
  messages.sends = sizes_of(messages.elements.sends);
  messages.receives = sizes_of(messages.elements.receives);
  messages.are_all = keep(takes, messages.elements.sends, messages.sends);
  if (!keep(takes, messages.elements.receives, messages.receives)) messages.are_all = false;
  return messages;
}

PhaseTable WholeMessages::rest_of(const PhaseTable& table) const {
  PhaseTable rest = table;
  rest.entries.clear();
  for (PhaseEntry entry : table.entries) {
    if (entry.send_partner != no_rank && sends.contains(entry.send_partner)) {
      entry.send_partner = no_rank;
      entry.send_bytes = entry.send_offset = 0;
    }
    if (entry.recv_partner != no_rank && receives.contains(entry.recv_partner)) {
      entry.recv_partner = no_rank;
      entry.recv_bytes = entry.recv_offset = 0;
    }
    if (entry.send_partner != no_rank || entry.recv_partner != no_rank) rest.entries.push_back(entry);
  }
  std::erase_if(rest.destinations, [this](const Partner& to) { return sends.contains(to.rank); });
  std::erase_if(rest.sources, [this](const Partner& from) { return receives.contains(from.rank); });
  return rest;
}

void SharedCopy::to_memory(std::byte* memory, MPI_Comm comm) const {
  std::byte* const to = memory + begin;
  if (is_plain) {
    std::memcpy(to, segment.at, static_cast<std::size_t>(bytes));
    return;
  }
  int position = 0;
  must(MPI_Pack(segment.at, static_cast<int>(segment.count), segment.type, to, static_cast<int>(bytes),
                &position, comm),
       "MPI_Pack");
}

void SharedCopy::from_memory(const std::byte* memory, MPI_Comm comm) const {
  const std::byte* const from = memory + begin;
  if (is_plain) {
    std::memcpy(segment.at, from, static_cast<std::size_t>(bytes));
    return;
  }
  int position = 0;
  must(MPI_Unpack(from, static_cast<int>(bytes), &position, segment.at, static_cast<int>(segment.count),
                  segment.type, comm),
       "MPI_Unpack");
}

void sort_by_partner(std::vector<TableElements::Elements>& elements) {
  std::ranges::stable_sort(elements, {}, &TableElements::Elements::partner);
}

void add_copies(const std::vector<TableElements::Elements>& elements, Rank partner, Bytes begin,
                std::vector<SharedCopy>& copies) {
  for (const auto& [_, segment] :
       std::ranges::equal_range(elements, partner, {}, &TableElements::Elements::partner)) {
    const Bytes bytes = segment.count * size_of(segment.type);
    copies.push_back({segment, begin, bytes, are_plain_bytes(segment.type)});
    begin += bytes;
  }
}

}  // namespace nuice::mpi
