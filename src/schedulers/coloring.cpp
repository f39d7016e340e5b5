// SPDX-License-Identifier: BSD-3-Clause
// Bipartite edge colouring (Koenig, Math. Annalen 77, 1916): exactly as many phases as the maximum degree D.
//
// Senders and receivers are the two sides of a bipartite graph, messages its edges, phases its colours.
// Messages are coloured one by one. If sender and receiver have a free colour in common, the message takes
// the lowest. If not, let a be free at the sender and b at the receiver: the path of edges coloured a, b, a,
// ... that starts at the receiver ends before the sender (it would have to arrive there by a), so exchanging
// a and b along it frees a at the receiver. Free colours are bit sets, so that the common one is found 64
// colours at a time. Cost: O(messages * (D / 64 + path length)), path <= 2n; 8 n D bytes for the colour
// tables.
#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "schedulers/phases.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

constexpr MessageId none = std::numeric_limits<MessageId>::max();
using Color = PhaseId;

MessageId max_degree(const CommMatrix& matrix) {
  std::size_t most = 0;
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    most = std::max<std::size_t>({most, matrix.sent_by(rank).size(), matrix.received_by(rank).size()});
  }
  return static_cast<MessageId>(most);
}

/// One side of the graph: which message has which colour at which rank.
class Side {
 public:
  Side(Rank num_ranks, Color num_colors)
      : num_colors_(num_colors),
        words_((num_colors + std::size_t{63}) / 64),
        message_at_(static_cast<std::size_t>(num_ranks) * num_colors, none),
        free_(static_cast<std::size_t>(num_ranks) * words_, ~std::uint64_t{0}) {}

  MessageId message(Rank rank, Color color) const { return message_at_[place(rank, color)]; }
  void set(Rank rank, Color color, MessageId id) {
    message_at_[place(rank, color)] = id;
    free_word(rank, color) &= ~bit(color);
  }
  void clear(Rank rank, Color color) {
    message_at_[place(rank, color)] = none;
    free_word(rank, color) |= bit(color);
  }
  /// Bits beyond the last colour are always set, so a result may be >= num_colors.
  std::span<const std::uint64_t> free_set(Rank rank) const {
    return {free_.data() + static_cast<std::size_t>(rank) * words_, words_};
  }

 private:
  std::size_t place(Rank rank, Color color) const {
    return static_cast<std::size_t>(rank) * num_colors_ + color;
  }
  std::uint64_t& free_word(Rank rank, Color color) {
    return free_[static_cast<std::size_t>(rank) * words_ + color / 64];
  }
  static std::uint64_t bit(Color color) { return std::uint64_t{1} << (color % 64); }

  std::size_t num_colors_;
  std::size_t words_;
  std::vector<MessageId> message_at_;
  std::vector<std::uint64_t> free_;
};

Color first_of(std::span<const std::uint64_t> set) {
  std::size_t word = 0;
  while (set[word] == 0) ++word;
  return static_cast<Color>(word * 64) + static_cast<Color>(std::countr_zero(set[word]));
}

/// The lowest colour in both sets, or num_colors if they have none in common.
Color first_common(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, Color num_colors) {
  for (std::size_t word = 0; word < a.size(); ++word) {
    const std::uint64_t both = a[word] & b[word];
    if (both != 0) {
      return std::min(num_colors, static_cast<Color>(word * 64) + static_cast<Color>(std::countr_zero(both)));
    }
  }
  return num_colors;
}

class Coloring {
 public:
  explicit Coloring(const CommMatrix& matrix)
      : matrix_(matrix),
        num_colors_(max_degree(matrix)),
        senders_(matrix.num_ranks(), num_colors_),
        receivers_(matrix.num_ranks(), num_colors_),
        color_of_(matrix.num_messages()) {}

  std::vector<Color> run() {
    for (MessageId id = 0; id < matrix_.num_messages(); ++id) set(id, free_color_for(id));
    return std::move(color_of_);
  }
  Color num_colors() const { return num_colors_; }

 private:
  Color free_color_for(MessageId id) {
    const auto free_at_sender = senders_.free_set(matrix_.src(id));
    const auto free_at_receiver = receivers_.free_set(matrix_.dst(id));
    const Color common = first_common(free_at_sender, free_at_receiver, num_colors_);
    if (common < num_colors_) return common;
    const Color a = first_of(free_at_sender);
    exchange_along_path(matrix_.dst(id), a, first_of(free_at_receiver));
    return a;
  }

  void exchange_along_path(Rank receiver, Color a, Color b) {
    path_.clear();
    for (MessageId id = receivers_.message(receiver, a); id != none;) {
      path_.push_back(id);
      id = senders_.message(matrix_.src(id), b);
      if (id == none) break;
      path_.push_back(id);
      id = receivers_.message(matrix_.dst(id), a);
    }
    for (const MessageId id : path_) clear(id);
    for (const MessageId id : path_) set(id, a ^ b ^ color_of_[id]);
  }

  void set(MessageId id, Color color) {
    color_of_[id] = color;
    senders_.set(matrix_.src(id), color, id);
    receivers_.set(matrix_.dst(id), color, id);
  }
  void clear(MessageId id) {
    senders_.clear(matrix_.src(id), color_of_[id]);
    receivers_.clear(matrix_.dst(id), color_of_[id]);
  }

  const CommMatrix& matrix_;
  Color num_colors_;
  Side senders_;
  Side receivers_;
  std::vector<Color> color_of_;
  std::vector<MessageId> path_;
};

}  // namespace

Schedule make_coloring(const Problem& problem) {
  Coloring coloring(problem.matrix);
  const std::vector<Color> color_of = coloring.run();
  return from_phases(problem.matrix, color_of, coloring.num_colors());
}

}  // namespace nuice::sched
