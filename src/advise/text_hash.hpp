// SPDX-License-Identifier: BSD-3-Clause
// A hash that is the same on every platform and in every version.
#pragma once

#include <cstdint>
#include <string_view>

#include "nuice/core/random.hpp"

namespace nuice::advice {

inline std::uint64_t hash_of_text(std::string_view text) {
  std::uint64_t hash = mix64(text.size());
  for (const char c : text) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace nuice::advice
