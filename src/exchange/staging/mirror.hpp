// SPDX-License-Identifier: BSD-3-Clause
// A contiguous copy of one side's messages. It lies in pinned host memory, which any MPI can send and
// receive. For elements with gaps and an MPI that reads device memory, it lies on the device.
//
//   [ large messages of plain bytes, in the order of sending | the other messages, field by field ]
//
// The device's copy engine copies large messages. One kernel per field copies elements with gaps and many
// small messages.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "device/indexed_copy.hpp"
#include "exchange/staging/items.hpp"

namespace nuice::mpi {

/// Cuts the `bytes` bytes of a mirror into copies, and returns the offset at which each copy ends. The first
/// copy has one chunk, so that its data can be sent early. Later copies have up to four chunks, because
/// starting a copy takes some microseconds. On an H100, copies of 256 KiB reach 0.72 of the bus's rate, and
/// copies cut in this way 0.90 (tools/gpu-check.sh).
std::vector<Bytes> ends_of_copies(Bytes bytes, Bytes chunk_bytes);

class Mirror {
 public:
  /// The bytes of the mirror for one field and one partner, which is given by its index in the user's order.
  struct Range {
    Bytes begin;
    Bytes end;
    std::size_t partner;
    bool is_streamed;  // large and plain, so pieces of it may be drained
  };

  Mirror() = default;
  /// rank_of: the position of each partner in the order of sending. left_out: flags of partners whose
  /// messages are not read or written in the mirror, so that their items get addresses but no memory.
  /// on_device: see above.
  Mirror(const device::Location& at, DeviceItems items, std::span<const std::size_t> rank_of, bool on_device,
         Bytes chunk_bytes, std::span<const char> left_out);

  std::byte* data() const { return memory_; }
  Bytes bytes() const { return bytes_; }
  bool holds(const std::byte* at) const { return at >= memory_ && at < memory_ + bytes_; }
  /// Returns where a field's elements for a partner begin, if there are any.
  std::optional<Bytes> find(std::size_t field, std::size_t partner) const;
  /// The ranges that have memory, ascending.
  const std::vector<Range>& ranges() const { return ranges_; }

  // fill() copies bytes [begin, end) of the mirror from the user's memory, and drain() copies them back to
  // it, in the order of the stream. If begin or end lies inside an item, its distance from the item's begin
  // must be a multiple of 16 bytes.
  void fill(Bytes begin, Bytes end, const device::Stream& stream) const;
  void drain(Bytes begin, Bytes end, const device::Stream& stream) const;

 private:
  struct Move {
    Bytes begin;  // in the mirror
    std::byte* at;
    Bytes bytes;
  };
  struct Area {
    Bytes begin;
    Bytes end;
    device::IndexedCopy copy;
  };
  struct Address {
    std::size_t field;
    std::size_t partner;
    Bytes begin;
    auto operator<=>(const Address&) const = default;
  };
  void place(const DeviceItem& item, bool is_streamed);
  template <typename Copy, typename Kernel>
  void for_parts(Bytes begin, Bytes end, Copy&& copy, Kernel&& kernel) const;

  device::PinnedMemory pinned_;
  device::DeviceMemory on_device_;
  std::byte* memory_ = nullptr;
  Bytes bytes_ = 0;
  std::vector<Move> moves_;  // ascending
  std::vector<Area> areas_;  // ascending
  std::vector<Range> ranges_;
  std::vector<Address> addresses_;  // by field, then partner
};

}  // namespace nuice::mpi
