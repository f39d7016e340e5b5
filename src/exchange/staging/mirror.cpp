// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/staging/mirror.hpp"

#include <algorithm>
#include <utility>

namespace nuice::mpi {
namespace {

/// If there are few messages, or messages are large on average, they are copied one by one. Otherwise one
/// kernel copies all messages. On an H100 the kernel takes 0.9 times as long as 4 copies and 0.6 times as
/// long as 8 copies. It takes 0.1 (1 KiB each) to 0.5 times (64 KiB each) as long as 64 copies
/// (tools/gpu-check.sh). Large messages are left to the copy engine, because a kernel occupies processors
/// that the program could use.
constexpr std::size_t few_copies = 3;
constexpr Bytes large_copy_bytes = 65536;

bool wants_kernel(const DeviceItems& items) {
  const auto is_plain = [](const DeviceItem& item) { return item.is_plain; };
  Bytes bytes = 0;
  for (const DeviceItem& item : items) bytes += item.bytes();
  const auto count = static_cast<Bytes>(items.size());
  return std::ranges::all_of(items, is_plain) && items.size() > few_copies &&
         bytes / count < large_copy_bytes;
}

/// Sorts by field, so that the elements of a field are contiguous.
void sort_by_field(DeviceItems& items, std::span<const std::size_t> rank_of) {
  std::ranges::stable_sort(
      items, {}, [&](const DeviceItem& item) { return std::pair(item.field, rank_of[item.partner]); });
}

}  // namespace

std::vector<Bytes> ends_of_copies(Bytes bytes, Bytes chunk_bytes) {
  std::vector<Bytes> ends;
  Bytes next = chunk_bytes;
  for (Bytes end = 0; end < bytes; next = std::min(2 * next, 4 * chunk_bytes))
    ends.push_back(end = std::min(end + next, bytes));
  return ends;
}

Mirror::Mirror(const device::Location& at, DeviceItems items, std::span<const std::size_t> rank_of,
               bool on_device, Bytes chunk_bytes, std::span<const char> left_out) {
  const auto is_left_out = [&](const DeviceItem& item) { return left_out[item.partner] != 0; };
  const DeviceItems without(items.begin(), std::ranges::stable_partition(items, is_left_out).begin());
  items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(without.size()));
  DeviceItems by_kernel;
  if (wants_kernel(items)) by_kernel.swap(items);
  const auto others =
      std::ranges::stable_partition(items, [](const DeviceItem& item) { return item.is_plain; });
  by_kernel.insert(by_kernel.end(), others.begin(), others.end());
  items.erase(others.begin(), others.end());
  Bytes plain_bytes = 0;
  for (const DeviceItem& item : items) plain_bytes += item.bytes();
  if (plain_bytes > chunk_bytes)
    std::ranges::stable_sort(items, {}, [&](const DeviceItem& item) { return rank_of[item.partner]; });
  else  // so that contiguous bytes are one copy
    std::ranges::stable_sort(items, {}, &DeviceItem::at);
  for (const DeviceItem& item : items) {
    place(item, item.bytes() > chunk_bytes);
    const Bytes begin = ranges_.back().begin;
    const bool follows = !moves_.empty() && moves_.back().begin + moves_.back().bytes == begin &&
                         moves_.back().at + moves_.back().bytes == item.at;
    if (follows)
      moves_.back().bytes += item.bytes();
    else
      moves_.push_back({begin, item.at, item.bytes()});
  }
  sort_by_field(by_kernel, rank_of);
  for (std::size_t first = 0, next = 0; first < by_kernel.size(); first = next) {
    bytes_ = (bytes_ + 15) / 16 * 16;  // so that chunks end between units
    while (next < by_kernel.size() && by_kernel[next].field == by_kernel[first].field)
      place(by_kernel[next++], false);
    Units units = units_of(std::span(by_kernel).subspan(first, next - first));
    areas_.push_back({ranges_[ranges_.size() - (next - first)].begin, bytes_,
                      device::IndexedCopy(at, units.base, units.size, std::move(units.index))});
  }
  const Bytes with_memory = bytes_;
  const std::size_t num_ranges = ranges_.size();
  for (const DeviceItem& item : without) place(item, false);
  ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(num_ranges), ranges_.end());
  bytes_ = with_memory;
  std::ranges::sort(addresses_);
  // Allocates at least one byte, because an address is needed even if all items are left out.
  const auto bytes = static_cast<std::size_t>(std::max<Bytes>(with_memory, 1));
  if (on_device) {
    on_device_ = device::DeviceMemory(at, bytes);
    memory_ = static_cast<std::byte*>(on_device_.get());
  } else {
    pinned_ = device::PinnedMemory(at, bytes);
    memory_ = static_cast<std::byte*>(pinned_.get());
  }
}

/// Places an item. The item's begin is aligned, because the elements of a field are counted from there.
void Mirror::place(const DeviceItem& item, bool is_streamed) {
  const Bytes begin = (bytes_ + item.alignment - 1) / item.alignment * item.alignment;
  addresses_.push_back({item.field, item.partner, begin});
  bytes_ = begin + item.bytes();
  ranges_.push_back({begin, bytes_, item.partner, is_streamed});
}

std::optional<Bytes> Mirror::find(std::size_t field, std::size_t partner) const {
  const auto found = std::ranges::lower_bound(addresses_, Address{field, partner, 0});
  const bool is_there = found != addresses_.end() && found->field == field && found->partner == partner;
  if (!is_there) return {};
  return found->begin;
}

template <typename Copy, typename Kernel>
void Mirror::for_parts(Bytes begin, Bytes end, Copy&& copy, Kernel&& kernel) const {
  auto move = std::ranges::upper_bound(moves_, begin, {}, &Move::begin);
  if (move != moves_.begin()) --move;
  for (; move != moves_.end() && move->begin < end; ++move) {
    const Bytes from = std::max(begin, move->begin);
    const Bytes to = std::min(end, move->begin + move->bytes);
    if (from < to) copy(memory_ + from, move->at + (from - move->begin), static_cast<std::size_t>(to - from));
  }
  for (const Area& area : areas_) {
    const Bytes from = std::max(begin, area.begin);
    const Bytes to = std::min(end, area.end);
    if (from < to)
      kernel(area.copy, memory_ + area.begin, static_cast<std::size_t>(from - area.begin),
             static_cast<std::size_t>(to - area.begin));
  }
}

void Mirror::fill(Bytes begin, Bytes end, const device::Stream& stream) const {
  for_parts(
      begin, end,
      [&](std::byte* here, const std::byte* users, std::size_t bytes) { stream.copy(here, users, bytes); },
      [&](const device::IndexedCopy& copy, std::byte* dense, std::size_t from, std::size_t to) {
        copy.gather(dense, from, to, stream);
      });
}

void Mirror::drain(Bytes begin, Bytes end, const device::Stream& stream) const {
  for_parts(
      begin, end,
      [&](const std::byte* here, std::byte* users, std::size_t bytes) { stream.copy(users, here, bytes); },
      [&](const device::IndexedCopy& copy, const std::byte* dense, std::size_t from, std::size_t to) {
        copy.scatter(dense, from, to, stream);
      });
}

}  // namespace nuice::mpi
