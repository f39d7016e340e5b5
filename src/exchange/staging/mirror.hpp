// SPDX-License-Identifier: BSD-3-Clause
// A copy of one side's messages: in pinned memory of the host, from where any MPI sends them and where it puts them; or, of elements
// with gaps, in the device's own, where they are contiguous and an MPI that reads device memory takes them.
//
//   [ large messages of plain bytes, in the order in which they are sent | the others, field by field ]
//
// Large messages are copied by the device's copy engine; elements with gaps and many small messages by one kernel for each field.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "device/indexed_copy.hpp"
#include "exchange/staging/items.hpp"

namespace nuice::mpi {

/// The ends of the copies that fill a mirror of `bytes`: the first copy has a chunk, so that it can leave early; later
/// ones up to four, as each takes some us to begin: in copies of 256 KiB an H100 reaches 0.72 of its bus's rate, so 0.90
/// (tools/gpu-check.sh).
std::vector<Bytes> ends_of_copies(Bytes bytes, Bytes chunk_bytes);

class Mirror {
 public:
  /// Bytes of the mirror for one field and partner, which is its place in the user's order.
  struct Range {
    Bytes begin;
    Bytes end;
    std::size_t partner;
    bool is_streamed;  // large and plain: pieces of it may be drained
  };

  Mirror() = default;
  /// rank_of: of each partner its place in the order of sending. left_out: items of these partners get addresses, but no memory; for
  /// messages that are not read or written there. on_device: see above.
  Mirror(const device::Location& at, DeviceItems items, std::span<const std::size_t> rank_of, bool on_device,
         Bytes chunk_bytes, std::span<const char> left_out);

  std::byte* data() const { return memory_; }
  Bytes bytes() const { return bytes_; }
  bool holds(const std::byte* at) const { return at >= memory_ && at < memory_ + bytes_; }
  /// Where a field's elements for a partner begin, if there are any.
  std::optional<Bytes> find(std::size_t field, std::size_t partner) const;
  /// Ascending, those without memory left out.
  const std::vector<Range>& ranges() const { return ranges_; }

  // Bytes [begin, end), in the order of the stream. Ends inside an item are multiples of 16 from the item's begin.
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
