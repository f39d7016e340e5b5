// SPDX-License-Identifier: BSD-3-Clause
// Kernels that gather and scatter units of 1, 2, 4, 8 or 16 bytes by index, as text for the driver's
// compiler:
//
//   nuice_gather_U(from, to, index, count)    to[i] = from[index[i]]
//   nuice_scatter_U(from, to, index, count)   to[index[i]] = from[i]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "device/driver.hpp"

namespace nuice::device {

using Index = std::uint32_t;

constexpr std::array<std::size_t, 5> unit_sizes = {1, 2, 4, 8, 16};

/// Returns the text for CUDA.
const std::string& ptx_text();
/// Returns the text for HIP.
const std::string& hip_text();

/// The kernels of one device, compiled once. why_not says why there are no kernels.
struct Kernels {
  Handle module = nullptr;  // stays loaded until the process ends
  std::array<Handle, unit_sizes.size()> gather{};
  std::array<Handle, unit_sizes.size()> scatter{};
  std::string why_not;

  bool are_there() const { return why_not.empty(); }
};
/// Returns the kernels of a device, which must be current.
const Kernels& kernels_of(const Location& at);

}  // namespace nuice::device
