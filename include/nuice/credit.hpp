// SPDX-License-Identifier: BSD-3-Clause
// What the executor credit is set to unless it is told otherwise, for those who run it and those who predict it.
#pragma once

#include "nuice/types.hpp"

namespace nuice {

inline constexpr Bytes default_chunk_bytes = 4096;
inline constexpr Bytes default_window_bytes = 32768;  ///< What a short switch queue holds for one port.

}  // namespace nuice
