// SPDX-License-Identifier: BSD-3-Clause
// Control messages ("letters") between ranks that plan together.
#pragma once

#include <array>
#include <cstdint>

#include "nuice/core/types.hpp"

namespace nuice::distributed {

/// The number of a phase while the plan is being made.
using Colour = std::uint16_t;
inline constexpr Colour no_colour = 0xFFFF;
/// The maximum number of phases of a plan, and of partners of any rank.
inline constexpr std::size_t most_colours = no_colour;

/// A control message of 20 bytes about one message of the exchange between src and dst.
struct Letter {
  static constexpr std::size_t most_offered = 4;

  Rank src;  ///< The sender of this letter.
  Rank dst;
  bool is_settled;           ///< True: the message has the colour offered[0] from now on. False: it has no
                             ///< colour yet.
  std::uint8_t num_offered;  ///< The number of colours that src keeps free for the message until dst answers.
  std::uint16_t piece;       ///< The number of the piece, if the message is cut (cut.hpp); otherwise 0.
  std::array<Colour, most_offered> offered;
};
static_assert(sizeof(Letter) == 20);

}  // namespace nuice::distributed
