// SPDX-License-Identifier: BSD-3-Clause
// Slices: coloring_by_size, after cutting the few large messages that would make phases long.
//
// Schedules of whole messages cannot have fewer bytes than W (bounds.hpp). If sizes range over orders of
// magnitude, a rank's largest message may be far larger than most others. It makes a phase in which the other
// ranks wait. Therefore messages above c bytes are cut into pieces of c bytes and a rest. W of the pieces is
// then close to max_port_bytes, and ranks with large messages have a few more pieces. There are as many
// phases as the maximum number of pieces of a rank, so phases stay few. The many tiny messages are not
// changed.
//
// c is found by search. It is the value with the least W whose pieces need at most a tenth more phases than
// the matrix. If a rank has no room for that many pieces, its message is cut into equal parts. If no c saves
// a thousandth of W, coloring_by_size makes the result.
//
// Cost: O(m) for each of 33 values of c, and coloring_by_size.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/by_size.hpp"
#include "nuice/core/bounds.hpp"
#include "nuice/core/interrupt.hpp"
#include "schedulers/coloring_by_size.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

struct Sized {
  Bytes bytes;
  MessageId id;
};

class Cutter {
 public:
  explicit Cutter(const CommMatrix& matrix);

  /// Returns the pieces with the least W.
  Pieces best();

 private:
  /// Numbers of messages or pieces: for all ranks as senders, then for all ranks as receivers.
  using Counts = std::vector<MessageId>;

  MessageId& of_sender(Counts& counts, MessageId id) const {
    return counts[static_cast<std::size_t>(matrix_.src(id))];
  }
  MessageId& of_receiver(Counts& counts, MessageId id) const {
    return counts[static_cast<std::size_t>(matrix_.num_ranks()) + static_cast<std::size_t>(matrix_.dst(id))];
  }

  void try_at(Bytes most);
  std::vector<Sized> cut(Bytes most) const;
  Bytes whole_bytes(const std::vector<Sized>& pieces, Bytes enough) const;

  const CommMatrix& matrix_;
  std::vector<Sized> whole_;  // largest first
  Counts degree_;
  MessageId max_pieces_ = 0;
  Bytes best_bytes_ = 0;
  Bytes best_most_ = 0;  // the size limit of pieces with the least W
};

Cutter::Cutter(const CommMatrix& matrix)
    : matrix_(matrix), degree_(2 * static_cast<std::size_t>(matrix.num_ranks()), 0) {
  whole_.reserve(matrix.num_messages());
  for (const MessageId id : core::ids_by_size(matrix)) {
    whole_.push_back({matrix.bytes(id), id});
    max_pieces_ = std::max({max_pieces_, ++of_sender(degree_, id), ++of_receiver(degree_, id)});
  }
  max_pieces_ += max_pieces_ / 10;
}

std::vector<Sized> Cutter::cut(Bytes most) const {
  Counts pieces = degree_;
  std::vector<Sized> large;
  auto at = whole_.begin();
  for (; at != whole_.end() && at->bytes > most; ++at) {
    const Bytes wanted = (at->bytes - 1) / most + 1;
    MessageId& sends = of_sender(pieces, at->id);
    MessageId& receives = of_receiver(pieces, at->id);
    const Bytes number = std::min<Bytes>(wanted, Bytes{max_pieces_ - std::max(sends, receives)} + 1);
    const Bytes each = number == wanted ? most : at->bytes / number;
    large.insert(large.end(), static_cast<std::size_t>(number - 1), {each, at->id});
    large.push_back({at->bytes - each * (number - 1), at->id});
    sends += static_cast<MessageId>(number - 1);
    receives += static_cast<MessageId>(number - 1);
  }
  std::ranges::stable_sort(large, std::ranges::greater{}, &Sized::bytes);
  std::vector<Sized> all(large.size() + static_cast<std::size_t>(whole_.end() - at));
  std::merge(large.begin(), large.end(), at, whole_.end(), all.begin(),
             [](const Sized& a, const Sized& b) { return a.bytes > b.bytes; });
  return all;
}

/// Returns W like whole_message_bytes(). If W is at least `enough`, may return any value from `enough` to W.
Bytes Cutter::whole_bytes(const std::vector<Sized>& pieces, Bytes enough) const {
  Counts met(degree_.size(), 0);
  MessageId k = 0;
  Bytes sum = 0;
  for (auto piece = pieces.begin(); piece != pieces.end() && sum < enough; ++piece) {
    const MessageId most = std::max(++of_sender(met, piece->id), ++of_receiver(met, piece->id));
    if (most <= k) continue;
    k = most;
    sum += piece->bytes;
  }
  return sum;
}

void Cutter::try_at(Bytes most) {
  check_interrupt();
  if (most < 1 || most >= whole_.front().bytes) return;
  const Bytes bytes = whole_bytes(cut(most), best_bytes_);
  if (bytes >= best_bytes_) return;
  best_bytes_ = bytes;
  best_most_ = most;
}

Pieces Cutter::best() {
  const Bytes least = lower_bounds(matrix_).max_port_bytes;
  const Bytes whole = best_bytes_ = whole_message_bytes(matrix_);
  best_most_ = whole_.empty() ? 0 : whole_.front().bytes;
  if (whole - least > least / 200) {
    Bytes most = least - least / 5;
    for (int coarse = 0; coarse < 18; ++coarse, most -= most / 5) try_at(most);
    const Bytes around = best_most_;
    for (Bytes percent = 82; percent <= 124; percent += 3) {
      try_at(around / 100 * percent + around % 100 * percent / 100);
    }
  }
  const bool pays = whole - best_bytes_ > whole / 1000;
  Pieces pieces;
  for (const Sized& piece : pays ? cut(best_most_) : whole_) {
    pieces.messages.push_back(piece.id);
    if (pays) pieces.bytes.push_back(piece.bytes);
  }
  return pieces;
}

}  // namespace

Schedule make_slices(const Problem& problem) {
  Pieces pieces = Cutter(problem.matrix).best();
  return color_pieces(problem.matrix, std::move(pieces));
}

}  // namespace nuice::sched
