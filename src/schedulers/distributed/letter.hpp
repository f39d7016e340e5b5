// SPDX-License-Identifier: BSD-3-Clause
// What ranks that plan together write to each other.
#pragma once

#include <array>
#include <cstdint>

#include "nuice/core/types.hpp"

namespace nuice::distributed {

/// A phase, while it is being looked for.
using Colour = std::uint16_t;
inline constexpr Colour no_colour = 0xFFFF;
/// The most phases of a plan, and the most partners of a rank.
inline constexpr std::size_t most_colours = no_colour;

/// 20 bytes about the message of the exchange between two ranks.
struct Letter {
  static constexpr std::size_t most_offered = 4;

  Rank src;  ///< Of this letter.
  Rank dst;
  bool is_settled;           ///< The message has offered[0] from now on; otherwise it has no colour, and ...
  std::uint8_t num_offered;  ///< ... these are kept free for it at src, until dst has answered.
  std::array<Colour, most_offered> offered;
};
static_assert(sizeof(Letter) == 20);

}  // namespace nuice::distributed
