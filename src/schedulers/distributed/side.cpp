// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/distributed/side.hpp"

#include <algorithm>

namespace nuice::distributed {
namespace {

constexpr std::uint32_t fresh = 1U << 31;  // marks a colour given in this turn

// Two uncoloured messages that move around the same cycle in the same direction never meet. Therefore each of
// them stays where it is with probability 1/8. The first rounds do not need this, because nearly all
// uncoloured messages get their colours in any case.
constexpr std::uint32_t rounds_without_waiting = 12;
constexpr std::uint64_t one_in_waits = 8;

// With skewed sizes few colours allow a large message, often a single one that is free. Two ranks would then
// offer each other the same two colours forever. Therefore, while a new colour would cost too many bytes, one
// in four of the messages that could not take a step gets another colour to offer.
constexpr std::uint64_t one_in_turns = 4;

Rank distance(Rank self, Rank partner, Rank num_ranks) {
  return partner >= self ? partner - self : partner - self + num_ranks;
}

/// Returns the first message of a partner.
std::uint32_t first_of(const Side& side, Rank partner) {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(side.partners, partner) - side.partners.begin());
}

/// Returns the message that the letter is about.
std::uint32_t edge_of(const Side& side, const Letter& letter) {
  return first_of(side, letter.src) + letter.piece;
}

Letter letter_about(const Side& side, std::uint32_t edge) {
  const Rank partner = side.partners[edge];
  return {.src = side.self,
          .dst = partner,
          .is_settled = false,
          .num_offered = 0,
          .piece = static_cast<std::uint16_t>(edge - first_of(side, partner)),
          .offered = {}};
}

}  // namespace

std::vector<Rank> distances_of(Rank self, std::span<const Rank> partners, Rank num_ranks) {
  std::vector<Rank> distances;
  for (const Rank partner : partners) distances.push_back(distance(self, partner, num_ranks));
  std::ranges::sort(distances);
  return distances;
}

void Turn::read(const Side& side, std::span<const Letter> in) {
  holes_.clear();
  for (const Letter& letter : in) {
    const Edge edge = edge_of(side, letter);
    side.colours[edge] = letter.is_settled ? letter.offered[0] : no_colour;
    if (!letter.is_settled) holes_.push_back({edge, &letter});
  }
}

void Turn::mark(const Side& side) {
  at_.resize(palette_.size());
  for (Edge edge = 0; edge < side.colours.size(); ++edge)
    if (side.colours[edge] != no_colour) at_[side.colours[edge]] = edge + 1;
}

void Turn::unmark(const Side& side) {
  for (const Colour colour : side.colours)
    if (colour != no_colour) at_[colour] = 0;
}

/// Orders the uncoloured messages by size. The largest come first, because they have the fewest colours to
/// choose from. Messages of equal size are in random order.
void Turn::order_holes(const Side& side, Random& random) {
  random.shuffle(std::span(holes_));
  std::ranges::stable_sort(holes_, std::ranges::greater{},
                           [&](const Hole& hole) { return side.bytes[hole.edge]; });
}

/// Collects at least `wanted` colours that no message of this rank has, or all such colours if there are
/// fewer. Without `random`, takes the lowest colours, ascending.
void Turn::collect_free(const Side& side, std::size_t wanted, Random* random) {
  free_.clear();
  const std::size_t size = palette_.size();
  const std::size_t num_free = size - side.colours.size();  // a lower bound: some messages have no colour
  const bool can_guess = palette_.is_flat() && random != nullptr && num_free > size / 2 && 4 * wanted < size;
  if (can_guess) {
    constexpr std::uint32_t taken = fresh - 1;
    while (free_.size() < wanted) {
      const auto colour = static_cast<Colour>(random->below(size));
      if (at_[colour] != 0) continue;
      at_[colour] = taken;
      free_.push_back(colour);
    }
    for (const Colour colour : free_) at_[colour] = 0;
    return;
  }
  const std::size_t enough = random == nullptr ? wanted : size;
  for (std::size_t colour = 0; colour < size && free_.size() < enough; ++colour)
    if (at_[colour] == 0) free_.push_back(static_cast<Colour>(colour));
  if (random != nullptr) random->shuffle(std::span(free_));
}

/// Returns a free colour that allows messages of this size; no_colour if there is no such colour.
Colour Turn::take_free(Bytes bytes) {
  for (std::size_t i = free_.size(); i-- > 0;) {
    if (!palette_.allows(free_[i], bytes)) continue;
    const Colour colour = free_[i];
    free_[i] = free_.back();
    free_.pop_back();
    return colour;
  }
  return no_colour;
}

/// Returns a free colour, or takes a colour from a smaller message; no_colour if neither is possible.
Colour Turn::take_colour(const Side& side, Bytes bytes) {
  const Colour colour = take_free(bytes);
  return colour != no_colour ? colour : evict(side, bytes);
}

/// Takes the colour of the smallest message that is smaller than `bytes` and whose colour allows `bytes`.
/// Returns no_colour if there is no such message. Offers that message a free colour, or a colour taken from a
/// still smaller message. Without either it stays uncoloured.
Colour Turn::evict(const Side& side, Bytes bytes) {
  Edge smallest = 0;
  Bytes least = bytes;
  for (Edge edge = 0; edge < side.colours.size(); ++edge) {
    const Colour colour = side.colours[edge];
    if (colour == no_colour || side.bytes[edge] >= least || !palette_.allows(colour, bytes)) continue;
    if ((at_[colour] & fresh) != 0) continue;
    smallest = edge;
    least = side.bytes[edge];
  }
  if (least == bytes) return no_colour;
  const Colour colour = std::exchange(side.colours[smallest], no_colour);
  at_[colour] = 0;
  keep_for(side, smallest, take_colour(side, least));
  return colour;
}

/// Chooses a random message whose colour allows `bytes` and which may have `colour` instead. Offers `colour`
/// to this message, and returns the colour that the message had. If there is no such message, returns
/// `colour`.
Colour Turn::exchange(const Side& side, Bytes bytes, Colour colour, Random& random) {
  const std::size_t count = side.colours.size();
  const std::size_t first = random.below(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto edge = static_cast<Edge>((first + i) % count);
    const Colour own = side.colours[edge];
    if (own == no_colour || (at_[own] & fresh) != 0) continue;
    if (!palette_.allows(own, bytes) || !palette_.allows(colour, side.bytes[edge])) continue;
    side.colours[edge] = no_colour;
    at_[own] = 0;
    keep_for(side, edge, colour);
    return own;
  }
  return colour;
}

void Turn::give(const Side& side, Edge edge, Colour colour, std::vector<Letter>& out) {
  side.colours[edge] = colour;
  at_[colour] = (edge + 1) | fresh;
  Letter letter = letter_about(side, edge);
  letter.is_settled = true;
  letter.num_offered = 1;
  letter.offered[0] = colour;
  out.push_back(letter);
}

bool Turn::match(const Side& side, const Hole& hole, std::vector<Letter>& out) {
  for (std::size_t i = 0; i < hole.letter->num_offered; ++i) {
    const Colour colour = hole.letter->offered[i];
    if (at_[colour] != 0) continue;
    give(side, hole.edge, colour, out);
    return true;
  }
  return false;
}

void Turn::keep_for(const Side& side, Edge edge, Colour colour) {
  unsettled_sizes_.add(side.bytes[edge]);
  Offer offer{edge};
  if (colour != no_colour) offer.colours[offer.count++] = colour;
  offers_.push_back(offer);
}

/// Returns whether a message that loses its colour may take the colour of a smaller message in turn. Every
/// step of such a chain of evictions leaves one more message without a colour, which costs control messages.
/// The chain is worth them in three cases. With skewed sizes only few colours allow large messages. A rank
/// with colours to spare can give the last message of the chain one of these. And if few messages are left,
/// all chains together are short.
bool Turn::may_chain(const Side& side) const {
  constexpr std::size_t spare_part = 8;
  const std::size_t num_spare = palette_.size() - side.colours.size();
  return palette_.is_skewed() || num_spare * spare_part >= palette_.size() || palette_.has_few_left();
}

/// Gives the message one of the colours that its partner offers, although another message of this rank has
/// this colour. Does so only if this rank can offer another colour to that message: a free colour or, if
/// may_chain(), the colour of a smaller message.
bool Turn::steal(const Side& side, const Hole& hole, std::vector<Letter>& out) {
  for (std::size_t i = 0; i < hole.letter->num_offered; ++i) {
    const Colour colour = hole.letter->offered[i];
    if (at_[colour] == 0 || (at_[colour] & fresh) != 0) continue;
    const Edge loser = at_[colour] - 1;
    const Bytes bytes = side.bytes[loser];
    const Colour other = may_chain(side) ? take_colour(side, bytes) : take_free(bytes);
    if (other == no_colour) continue;
    side.colours[loser] = no_colour;
    keep_for(side, loser, other);
    give(side, hole.edge, colour, out);
    return true;
  }
  return false;
}

/// Sends the offers. When every uncoloured message has been offered a colour, also offers the colours that
/// are left.
void Turn::send_offers(const Side& side, std::vector<Letter>& out) {
  for (std::size_t more = 1; more < Letter::most_offered && !free_.empty(); ++more)
    for (Offer& offer : offers_) {
      const Colour colour = take_free(side.bytes[offer.edge]);
      if (colour != no_colour) offer.colours[offer.count++] = colour;
    }
  for (const Offer& offer : offers_) {
    Letter letter = letter_about(side, offer.edge);
    letter.num_offered = offer.count;
    letter.offered = offer.colours;
    out.push_back(letter);
  }
}

/// If a message has the same distance to its destination as a message of the example, offers it the colour
/// that the example's message gets. For stencils this settles all messages.
void Turn::keep_as_example(const Side& side, std::vector<Edge>& holes) {
  if (!palette_.is_flat() || example_.size() > palette_.size()) return;
  std::erase_if(holes, [&](Edge edge) {
    const Rank far = distance(side.self, side.partners[edge], num_ranks_);
    const auto found = std::ranges::lower_bound(example_, far);
    if (found == example_.end() || *found != far) return false;
    const auto colour = static_cast<Colour>(found - example_.begin());
    if (std::exchange(at_[colour], edge + 1) != 0) return false;
    keep_for(side, edge, colour);
    return true;
  });
}

/// Gives the free colours in order: to the largest messages first, and by distance among equal sizes, as in
/// LP.
void Turn::keep_in_order(const Side& side, const std::vector<Edge>& holes) {
  std::size_t next = 0;
  for (const Edge edge : holes) {
    const bool fits = next < free_.size() && palette_.allows(free_[next], side.bytes[edge]);
    keep_for(side, edge, fits ? free_[next++] : no_colour);
  }
  free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(next));
}

void Turn::open(const Side& side, std::vector<Letter>& out) {
  std::vector<Edge> holes;
  for (Edge edge = 0; edge < side.colours.size(); ++edge)
    if (side.colours[edge] == no_colour) holes.push_back(edge);
  if (holes.empty()) return;
  const auto key = [&](Edge edge) {
    return std::pair(-side.bytes[edge], distance(side.self, side.partners[edge], num_ranks_));
  };
  std::ranges::stable_sort(holes, {}, key);
  offers_.clear();
  mark(side);
  keep_as_example(side, holes);
  collect_free(side, Letter::most_offered * holes.size(), nullptr);
  keep_in_order(side, holes);
  send_offers(side, out);
  unmark(side);
  for (const Offer& offer : offers_)
    for (std::size_t i = 0; i < offer.count; ++i) at_[offer.colours[i]] = 0;
}

void Turn::take(const Side& side, std::span<const Letter> in, std::uint32_t round, std::vector<Letter>& out) {
  read(side, in);
  if (holes_.empty()) return;
  Random random(mix64(seed_ ^ mix64(static_cast<std::uint64_t>(side.self) << 32 | round)));
  offers_.clear();
  mark(side);
  order_holes(side, random);
  std::erase_if(holes_, [&](const Hole& hole) { return match(side, hole, out); });
  if (!holes_.empty()) {
    collect_free(side, Letter::most_offered * holes_.size(), &random);
    for (const Hole& hole : holes_) {
      const bool waits = round > rounds_without_waiting && random.below(one_in_waits) == 0;
      if (!waits && steal(side, hole, out)) continue;
      const Bytes bytes = side.bytes[hole.edge];
      Colour colour = take_colour(side, bytes);
      const bool turns = palette_.is_skewed() && palette_.is_saving() && colour != no_colour &&
                         random.below(one_in_turns) == 0;
      if (turns) colour = exchange(side, bytes, colour, random);
      keep_for(side, hole.edge, colour);
    }
    send_offers(side, out);
  }
  unmark(side);
}

void Turn::close(const Side& side, std::span<const Letter> in) {
  for (const Letter& letter : in) side.colours[edge_of(side, letter)] = letter.offered[0];
}

std::size_t Turn::memory_bytes() const {
  return at_.capacity() * sizeof(at_[0]) + holes_.capacity() * sizeof(Hole) +
         free_.capacity() * sizeof(Colour) + offers_.capacity() * sizeof(Offer);
}

}  // namespace nuice::distributed
