// SPDX-License-Identifier: BSD-3-Clause
// Coloring in parts: coloring_by_size, with messages cut first where a few large ones make phases long.
//
// Whole messages cannot go below W (bounds.hpp). Where sizes are spread over orders of magnitude, one rank's largest
// message, which few others have the like of, makes a phase in which the others wait. All messages above c are cut into
// pieces of c and a rest; then W of the pieces comes near max_port_bytes, for a piece more at the ranks that have large
// messages. So phases stay few: they are as many as a rank has pieces at most, and tiny messages, which are most, are not
// touched. c is searched for: the one with the least W whose pieces nowhere need more than a tenth more phases than the
// matrix. Without a c that saves a thousandth this is coloring_by_size.
//
// Where a rank has no room for that many pieces, its message is cut in equal parts as far as there is room.
// Cost: O(m) for each of 33 values of c, and coloring_by_size.
#include <algorithm>
#include <vector>

#include "core/by_size.hpp"
#include "nuice/core/bounds.hpp"
#include "nuice/core/interrupt.hpp"
#include "schedulers/graph/cut_messages.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

class CutSearch {
 public:
  CutSearch(const CommMatrix& matrix, MessageId max_pieces);

  /// The pieces with the least W.
  CutMessages best();

 private:
  struct Sized {
    Bytes bytes;
    Rank src;
    Rank dst;
  };

  static constexpr int num_coarse = 18;

  void try_at(Bytes most);
  void cut_all(Bytes most);
  std::vector<Bytes> parts(const Sized& message, Bytes most);
  MessageId room(const Sized& message) const;
  Bytes whole_bytes_of_pieces(Bytes enough);
  /// Where its receiver stands in degree_ and pieces_.
  std::size_t receiver(const Sized& message) const {
    return static_cast<std::size_t>(matrix_.num_ranks()) + static_cast<std::size_t>(message.dst);
  }

  const CommMatrix& matrix_;
  std::vector<MessageId> ids_;  // largest first
  std::vector<Sized> by_size_;  // the same
  MessageId max_pieces_;
  std::vector<MessageId> degree_;  // by rank, sending; then receiving
  std::vector<MessageId> pieces_;  // the same, as cut
  std::size_t num_cut_ = 0;        // that many of the largest are cut
  std::vector<Sized> large_;       // their pieces
  Bytes best_most_ = 0;
  Bytes best_bytes_ = max_bytes;
};

CutSearch::CutSearch(const CommMatrix& matrix, MessageId max_pieces)
    : matrix_(matrix),
      ids_(core::ids_by_size(matrix)),
      max_pieces_(max_pieces),
      degree_(2 * static_cast<std::size_t>(matrix.num_ranks()), 0) {
  by_size_.reserve(ids_.size());
  for (const MessageId id : ids_) by_size_.push_back({matrix.bytes(id), matrix.src(id), matrix.dst(id)});
  for (const Sized& message : by_size_) {
    ++degree_[static_cast<std::size_t>(message.src)];
    ++degree_[receiver(message)];
  }
}

/// Of one more piece and those behind it.
MessageId CutSearch::room(const Sized& message) const {
  return max_pieces_ - std::max(pieces_[static_cast<std::size_t>(message.src)], pieces_[receiver(message)]);
}

std::vector<Bytes> CutSearch::parts(const Sized& message, Bytes most) {
  const Bytes wanted = (message.bytes - 1) / most + 1;
  const Bytes number = std::min<Bytes>(wanted, Bytes{room(message)} + 1);
  std::vector<Bytes> sizes;
  if (number == wanted) {
    sizes.assign(static_cast<std::size_t>(number), most);
    sizes.back() = message.bytes - most * (number - 1);
  } else {
    sizes.assign(static_cast<std::size_t>(number), message.bytes / number);
    sizes.front() += message.bytes % number;
  }
  pieces_[static_cast<std::size_t>(message.src)] += static_cast<MessageId>(number - 1);
  pieces_[receiver(message)] += static_cast<MessageId>(number - 1);
  return sizes;
}

void CutSearch::cut_all(Bytes most) {
  pieces_ = degree_;
  large_.clear();
  for (num_cut_ = 0; num_cut_ < by_size_.size() && by_size_[num_cut_].bytes > most; ++num_cut_) {
    const Sized& message = by_size_[num_cut_];
    for (const Bytes bytes : parts(message, most)) large_.push_back({bytes, message.src, message.dst});
  }
  std::ranges::stable_sort(large_, std::ranges::greater{}, &Sized::bytes);
}

/// W of the pieces, as in whole_message_bytes(), or something that is no less than `enough`.
Bytes CutSearch::whole_bytes_of_pieces(Bytes enough) {
  std::vector<MessageId> met(degree_.size(), 0);
  MessageId k = 0;
  Bytes sum = 0;
  const auto meet = [&](const Sized& piece) {
    const MessageId most = std::max(++met[static_cast<std::size_t>(piece.src)], ++met[receiver(piece)]);
    if (most <= k) return;
    k = most;
    sum += piece.bytes;
  };
  auto large = large_.begin();
  for (auto whole = by_size_.begin() + static_cast<std::ptrdiff_t>(num_cut_);
       whole != by_size_.end() && sum < enough; ++whole) {
    while (large != large_.end() && large->bytes >= whole->bytes) meet(*large++);
    meet(*whole);
  }
  while (large != large_.end()) meet(*large++);
  return sum;
}

void CutSearch::try_at(Bytes most) {
  check_interrupt();
  if (most < 1 || most >= by_size_.front().bytes) return;
  cut_all(most);
  const Bytes bytes = whole_bytes_of_pieces(best_bytes_);
  if (bytes >= best_bytes_) return;
  best_bytes_ = bytes;
  best_most_ = most;
}

CutMessages CutSearch::best() {
  CutMessages result(matrix_);
  if (by_size_.empty()) return result;
  const Bytes least = lower_bounds(matrix_).max_port_bytes;
  const Bytes whole = whole_message_bytes(matrix_);
  if (whole - least <= least / 200) return result;
  Bytes most = least - least / 5;
  for (int i = 0; i < num_coarse; ++i, most -= most / 5) try_at(most);
  const Bytes around = best_most_;
  for (Bytes percent = 82; percent <= 124; percent += 3)
    try_at(around / 100 * percent + around % 100 * percent / 100);
  if (best_most_ == 0 || whole - best_bytes_ <= whole / 1000) return result;
  pieces_ = degree_;
  for (std::size_t place = 0; place < by_size_.size() && by_size_[place].bytes > best_most_; ++place) {
    const std::vector<Bytes> sizes = parts(by_size_[place], best_most_);
    for (std::size_t part = sizes.size(); part-- > 1;) result.cut(ids_[place], sizes[part]);
  }
  return result;
}

}  // namespace

Schedule make_coloring_in_parts(const Problem& problem) {
  const MessageId degree = lower_bounds(problem.matrix).max_degree;
  return color_pieces(CutSearch(problem.matrix, degree + degree / 10).best());
}

}  // namespace nuice::sched
