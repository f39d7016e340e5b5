// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/bind/buffers.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "core/partners.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

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

std::vector<SendBuffer> buffers_in(const SendArray& array, std::span<const Partner> partners, Rank rank) {
  return make_buffers<SendBuffer>(array, partners, rank);
}

std::vector<ReceiveBuffer> buffers_in(const ReceiveArray& array, std::span<const Partner> partners,
                                      Rank rank) {
  return make_buffers<ReceiveBuffer>(array, partners, rank);
}

BufferLayout::BufferLayout(const CheckedMessages& messages, bool in_parts) : in_parts_(in_parts) {
  // MPI takes the address of what it only reads as one that it might write to, within a datatype.
  for (const auto& [to, data, count, type] : messages.sends)
    send_.push_back({to, static_cast<std::byte*>(const_cast<void*>(data)), 0, bytes_of(count, type)});
  for (const auto& [from, data, count, type] : messages.receives)
    receive_.push_back({from, static_cast<std::byte*>(data), 0, bytes_of(count, type)});
  settle(send_);
  settle(receive_);
}

void BufferLayout::settle(ByRank& places) {
  std::ranges::stable_sort(places, {}, &Place::rank);
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i].rank == places[i - 1].rank) places[i].begin = places[i - 1].begin + places[i - 1].bytes;
}

void BufferLayout::find(const ByRank& all, Rank rank, Bytes offset, Bytes bytes, Places& places) {
  for (const Place& place : std::ranges::equal_range(all, rank, {}, &Place::rank)) {
    const Bytes begin = std::max(offset, place.begin);
    const Bytes end = std::min(offset + bytes, place.begin + place.bytes);
    if (begin < end) places.push_back({place.at + (begin - place.begin), end - begin, MPI_BYTE});
  }
}

void BufferLayout::find_to_send(Rank dst, Bytes offset, Bytes bytes, Places& places) const {
  find(send_, dst, offset, bytes, places);
}

void BufferLayout::find_to_receive(Rank src, Bytes offset, Bytes bytes, Places& places) const {
  find(receive_, src, offset, bytes, places);
}

}  // namespace nuice::mpi
