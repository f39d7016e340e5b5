// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace nuice {

/// Returns the least multiple of `unit` that is at least `value`.
template <typename Integer>
constexpr Integer round_up(Integer value, Integer unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace nuice
