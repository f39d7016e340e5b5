// SPDX-License-Identifier: BSD-3-Clause
// Units that lie anywhere in a device's memory, and the same units contiguous in a second place, which may be pinned memory of
// the host: the kernel then packs and crosses the bus at once.
//
//   unit i of the dense place is unit index[i] behind base
//
// Where a driver compiles no kernels, runs of units are copied one by one: right, and slow.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "device/kernels.hpp"
#include "device/memory.hpp"

namespace nuice::device {

class IndexedCopy {
 public:
  IndexedCopy() = default;
  /// unit: one of unit_sizes, of which base is a multiple. Waits for the device.
  IndexedCopy(const Location& at, std::byte* base, std::size_t unit, std::vector<Index> index);

  std::size_t bytes() const { return num_units_ * unit_; }
  // Bytes [begin, end) of the dense place, both multiples of the unit; `dense` is where its byte 0 lies. In the order of the stream.
  void gather(std::byte* dense, std::size_t begin, std::size_t end, const Stream& stream) const;
  void scatter(const std::byte* dense, std::size_t begin, std::size_t end, const Stream& stream) const;

 private:
  struct Run {
    std::size_t begin;  // in the dense place, in bytes
    std::byte* at;
    std::size_t bytes;
  };
  void find_runs(std::span<const Index> index);
  void launch(Handle kernel, const std::byte* from, std::byte* to, std::size_t begin, std::size_t end,
              const Stream& stream) const;
  /// act(place in the device's memory, offset in the dense place, bytes)
  template <typename Act>
  void for_runs(std::size_t begin, std::size_t end, Act&& act) const;

  Location at_;
  std::byte* base_ = nullptr;
  std::size_t unit_ = 1;
  std::size_t num_units_ = 0;
  const Kernels* kernels_ = nullptr;
  std::size_t row_ = 0;  // of unit_sizes
  DeviceMemory index_;
  std::vector<Run> runs_;  // without kernels
};

}  // namespace nuice::device
