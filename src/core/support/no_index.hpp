// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace nuice {

/// The index that means "none": no vector is that long.
inline constexpr std::size_t no_index = static_cast<std::size_t>(-1);

}  // namespace nuice
