// SPDX-License-Identifier: BSD-3-Clause
// Distributed edge colouring: one rank's part of it.
//
// Senders and receivers are the two sides of a bipartite graph, messages its edges, phases its colours; a rank is a vertex
// on either side. The sides take turns. A rank whose turn it is holds all its messages without a colour: for each, the rank at
// the other end has sent a letter with colours that it keeps free for it. The rank
//   * takes one of these that is free here too, and says so: settled;
//   * or takes one that another of its messages has, which thereby loses it: a step along an alternating path (D. Koenig,
//     Math. Annalen 77, 1916);
//   * and offers colours that are free here for what is still without one to the ranks at the other ends, whose turn is
//     next.
// No two ranks are offered the same colour, so nothing that a rank decides can be refused, and nothing is ever locked: a
// message without a colour is a hole that walks, and all holes walk at once.
//
// Next to the literature: the first rounds are those of Panconesi and Srinivasan (SIAM J. Computing 26, 1997), of Grable and
// Panconesi (1997) and of Dubhashi, Grable and Panconesi (Theor. Computer Science 203, 1998), which draw colours and keep what
// meets no other; the walks settle what these leave over, with hardly more colours than D. DRS_N (004 s.4) is the ancestor: a
// rank that is refused turns to another message instead of waiting.
//
// Cost of a turn: O(degree + colours) time for a rank that has messages without a colour, else nothing.
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

/// One rank as a sender or as a receiver. The memory is the world's.
struct Side {
  Rank self;
  std::span<const Rank> partners;  ///< Of each message, ascending; equal ones as both ends have agreed.
  std::span<const Bytes> bytes;    ///< Of each message.
  std::span<Colour> colours;       ///< Of each message; no_colour while it has none.
};

/// The distances (partner - self) mod num_ranks, ascending.
std::vector<Rank> distances_of(Rank self, std::span<const Rank> partners, Rank num_ranks);

/// What a turn needs room for. The ranks of one process may share it, as nothing is left in it between turns.
class Turn {
 public:
  /// example: distances_of() the first sender that has most messages.
  Turn(const Palette& palette, std::uint64_t seed, Rank num_ranks, std::vector<Rank> example)
      : palette_(palette), seed_(seed), num_ranks_(num_ranks), example_(std::move(example)) {}

  /// The first one, of a sender that has heard nothing: offers colours for all its messages that have none.
  void open(const Side& side, std::vector<Letter>& out);
  /// The later ones. round: how many there were before, of both sides.
  void take(const Side& side, std::span<const Letter> in, std::uint32_t round, std::vector<Letter>& out);
  /// After the last.
  static void close(const Side& side, std::span<const Letter> in);

  /// The messages that ranks have offered colours for since the last call.
  SizeCounts unsettled_sizes() { return std::exchange(unsettled_sizes_, {}); }
  std::size_t memory_bytes() const;

 private:
  using Edge = std::uint32_t;  // index of a message in its side
  struct Hole {                // a message without a colour, and the letter that says what it may have
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
  void keep_as_example(const Side& side, std::vector<Edge>& holes);
  void give(const Side& side, Edge edge, Colour colour, std::vector<Letter>& out);
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

  std::vector<std::uint32_t> at_;  // by colour: 0, or the edge that has it, plus one, perhaps with `fresh`
  std::vector<Hole> holes_;
  std::vector<Colour> free_;
  std::vector<Offer> offers_;
};

}  // namespace nuice::distributed
