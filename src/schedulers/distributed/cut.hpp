// SPDX-License-Identifier: BSD-3-Clause
// Which messages are sent in several pieces, and into how many they are cut.
//
// No schedule of whole messages has fewer than W bytes (bounds.hpp), and often none reaches W. If sizes range
// over orders of magnitude, W is far above the bytes of the busiest rank: many ranks wait for one large
// message. Therefore large messages are cut into pieces. A few ranks then have a few more pieces than
// messages, so there are a few more phases. Every rank can cut its own messages, because the largest size of
// a piece is all that ranks have to agree on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::distributed {

/// The rule for cutting a message: pieces of equal size, and the rest. Both ends number them in this order.
struct Cut {
  static constexpr std::size_t most_pieces = 16;  ///< Of a message.

  Bytes most = max_bytes;  ///< Messages up to this size are whole.

  /// Returns the size of all pieces but the last, which may be smaller. More than `most` if there would be
  /// too many pieces, for example if a plan follows a matrix with smaller messages.
  Bytes piece_bytes(Bytes message_bytes) const;
  std::size_t num_pieces(Bytes message_bytes) const;
};

/// The pieces of a rank's messages in one direction: by message, and in each message by number.
struct CutMessages {
  std::vector<Rank> partners;
  std::vector<Bytes> bytes;
  std::vector<std::uint32_t> messages;  ///< The index of each piece's message.
};
CutMessages cut_messages(std::span<const Rank> partners, std::span<const Bytes> bytes, const Cut& cut);

/// A rule, and the limits for a Palette (palette.hpp) that follow from it.
struct ChosenCut {
  Cut cut;
  std::vector<Bytes> limits;
};

/// Returns the limits for messages cut by a rule. May be collective.
using LimitsAt = std::function<std::vector<Bytes>(const Cut&)>;

/// Returns the rule whose phases and bytes cost least: phase_cost_bytes for each phase, and the sum of all
/// limits. Messages stay whole if W is at most 5 % above max_port_bytes. There are at most a tenth more
/// phases (rounded up) than with whole messages. Calls limits_at() at most 13 times.
ChosenCut choose_cut(Bytes max_port_bytes, Bytes phase_cost_bytes, const LimitsAt& limits_at);

}  // namespace nuice::distributed
