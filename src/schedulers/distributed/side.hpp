// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of distributed edge colouring.
//
// Senders and receivers are the two sides of a bipartite graph. Messages are its edges, phases its colours; a
// rank is a vertex on either side. The two sides act alternately. When a rank acts, it holds all its messages
// that have no colour ("holes"). For each of them the partner has sent a control message (letter) with
// colours that the partner keeps free for the message. The rank does one of three things with each hole:
// * It takes one of these colours, if the colour is free here too, and tells the partner. The message is then
//   settled.
// * It takes a colour away from another of its messages. This is a step along an alternating path (D. Koenig,
//   Math. Annalen 77, 1916).
// * It offers colours that are free here to the partner, which acts next.
//
// No colour is offered to two ranks, so a rank's decision is never refused, and no locks are needed. Each
// message without a colour moves from rank to rank, and all of them move at the same time.
//
// Literature: the first rounds are similar to the methods of Panconesi and Srinivasan (SIAM J. Computing 26,
// 1997), of Grable and Panconesi (1997) and of Dubhashi, Grable and Panconesi (Theor. Computer Science 203,
// 1998). These draw colours at random and keep colours that have no conflict. The moves along paths settle
// the remaining messages, with hardly more than D colours. The ancestor is DRS_N (004 s.4), in which a rank
// that is refused turns to another message instead of waiting.
//
// Cost of a turn: O(degree + colours) time for a rank that has messages without a colour, no time for other
// ranks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nuice/core/random.hpp"
#include "schedulers/distributed/letter.hpp"
#include "schedulers/distributed/palette.hpp"

namespace nuice::distributed {

/// One rank as a sender or as a receiver. The caller owns the memory.
struct Side {
  Rank self;
  std::span<const Rank> partners;  ///< The partner of each message, ascending. A cut message (cut.hpp) is
                                   ///< several messages, one for each piece, in the order of their numbers.
  std::span<const Bytes> bytes;    ///< The size of each message.
  std::span<Colour> colours;       ///< The colour of each message; no_colour before it has one.
};

/// Returns the distances (partner - self) mod num_ranks, ascending.
std::vector<Rank> distances_of(Rank self, std::span<const Rank> partners, Rank num_ranks);

/// The working memory of a turn. All ranks of one process may share a Turn, because it keeps nothing between
/// turns.
class Turn {
 public:
  /// example: distances_of() for the first sender that has the maximum number of messages.
  Turn(const Palette& palette, std::uint64_t seed, Rank num_ranks, std::vector<Rank> example)
      : palette_(palette), seed_(seed), num_ranks_(num_ranks), example_(std::move(example)) {}

  /// Makes a sender's first turn: offers colours for all its messages that have no colour.
  void open(const Side& side, std::vector<Letter>& out);
  /// Makes a later turn. round: the number of earlier rounds of both sides.
  void take(const Side& side, std::span<const Letter> in, std::uint32_t round, std::vector<Letter>& out);
  /// Stores the colours that the letters of the last turn have settled.
  static void close(const Side& side, std::span<const Letter> in);

  /// Returns the sizes of the messages for which colours have been offered since the last call.
  SizeCounts unsettled_sizes() { return std::exchange(unsettled_sizes_, {}); }
  std::size_t memory_bytes() const;

 private:
  using Edge = std::uint32_t;  // index of a message in its side
  struct Hole {                // a message without a colour, and the control message with the colours that it
                               // may have
    Edge edge;
    const Letter* letter;
  };
  struct Offer {
    Edge edge;
    std::uint8_t count = 0;
    std::array<Colour, Letter::most_offered> colours{};
  };

  void read(const Side& side, std::span<const Letter> in);
  void mark(const Side& side);
  void unmark(const Side& side);
  void order_holes(const Side& side, Random& random);
  void collect_free(const Side& side, std::size_t wanted, Random* random);
  Colour take_free(Bytes bytes);
  Colour take_colour(const Side& side, Bytes bytes);
  Colour evict(const Side& side, Bytes bytes);
  Colour exchange(const Side& side, Bytes bytes, Colour colour, Random& random);
  void keep_as_example(const Side& side, std::vector<Edge>& holes);
  void give(const Side& side, Edge edge, Colour colour, std::vector<Letter>& out);
  bool may_chain(const Side& side) const;
  bool match(const Side& side, const Hole& hole, std::vector<Letter>& out);
  bool steal(const Side& side, const Hole& hole, std::vector<Letter>& out);
  void keep_for(const Side& side, Edge edge, Colour colour);
  void keep_in_order(const Side& side, const std::vector<Edge>& holes);
  void send_offers(const Side& side, std::vector<Letter>& out);

  const Palette& palette_;
  std::uint64_t seed_;
  Rank num_ranks_;
  std::vector<Rank> example_;
  SizeCounts unsettled_sizes_;

  std::vector<std::uint32_t> at_;  // for each colour: 0, or 1 + the edge that has it, perhaps with the bit
                                   // `fresh`
  std::vector<Hole> holes_;
  std::vector<Colour> free_;
  std::vector<Offer> offers_;
};

}  // namespace nuice::distributed
