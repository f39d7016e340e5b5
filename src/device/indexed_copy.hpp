// SPDX-License-Identifier: BSD-3-Clause
// Copies units between any positions in a device's memory and a dense place, in which they are contiguous.
// The dense place may be pinned host memory: the kernel then packs and crosses the bus in one step.
//
//   unit i of the dense place corresponds to unit index[i] after base
//
// If a driver cannot compile kernels, runs of units are copied one by one, which is correct but slow.
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
  /// Makes a copy object. unit must be one of unit_sizes, and base must be a multiple of unit. Waits for the
  /// device.
  IndexedCopy(const Location& at, std::byte* base, std::size_t unit, std::vector<Index> index);

  std::size_t bytes() const { return num_units_ * unit_; }
  // Both functions copy bytes [begin, end) of the dense place, in the order of the stream. begin and end must
  // be multiples of the unit. `dense` is the address of byte 0 of the dense place.
  void gather(std::byte* dense, std::size_t begin, std::size_t end, const Stream& stream) const;
  void scatter(const std::byte* dense, std::size_t begin, std::size_t end, const Stream& stream) const;

 private:
  struct Run {
    std::size_t begin;  // offset in the dense place, in bytes
    std::byte* at;
    std::size_t bytes;
  };
  void find_runs(std::span<const Index> index);
  void launch(Handle kernel, const std::byte* from, std::byte* to, std::size_t begin, std::size_t end,
              const Stream& stream) const;
  /// Calls act(address in the device's memory, offset in the dense place, bytes) for each run.
  template <typename Act>
  void for_runs(std::size_t begin, std::size_t end, Act&& act) const;

  Location at_;
  std::byte* base_ = nullptr;
  std::size_t unit_ = 1;
  std::size_t num_units_ = 0;
  const Kernels* kernels_ = nullptr;
  std::size_t row_ = 0;  // index into unit_sizes
  DeviceMemory index_;
  std::vector<Run> runs_;  // empty with kernels
};

}  // namespace nuice::device
