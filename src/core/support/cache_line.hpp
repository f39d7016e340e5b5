// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace nuice {

/// The size of a cache line of current processors. Atomics of two ranks on one line slow each other down.
inline constexpr std::size_t cache_line_bytes = 64;

}  // namespace nuice
