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
// c is found by search. W is least for it, and its pieces need at most a tenth more phases than the matrix.
// If a rank has no room for that many pieces, its message is cut into equal parts. coloring_by_size does not
// always reach W, so it colours the pieces of up to four values of c, until one comes close. If no c saves a
// thousandth of W, or the pieces are coloured badly, coloring_by_size makes the result.
//
// Cost: O(m) for each of 59 values of c, and coloring_by_size up to four times.
#include <algorithm>
#include <optional>
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

  /// A size limit of pieces, and W of the pieces.
  struct Candidate {
    Bytes most;
    Bytes bytes;
  };

  /// Returns the candidates that save enough and whose W is least, the best first; none if no candidate saves
  /// enough. If two save nearly as much, the one with larger pieces comes first.
  std::vector<Candidate> best();
  Pieces pieces(Bytes most) const;

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
  void try_around(Bytes from, Bytes to, Bytes step);
  std::vector<Sized> cut(Bytes most) const;
  Bytes whole_bytes(const std::vector<Sized>& pieces, Bytes enough) const;

  const CommMatrix& matrix_;
  std::vector<Sized> whole_;  // largest first
  Counts degree_;
  MessageId max_pieces_ = 0;
  Candidate best_{};
  std::vector<Candidate> tried_;
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
  const Bytes nearly = best_.bytes + best_.bytes / 500;
  const Candidate candidate{most, whole_bytes(cut(most), nearly)};
  if (candidate.bytes >= nearly) return;
  tried_.push_back(candidate);
  if (candidate.bytes < best_.bytes) best_ = candidate;
}

/// from, to, step: in thousandths of the best size limit so far.
void Cutter::try_around(Bytes from, Bytes to, Bytes step) {
  const Bytes around = best_.most;
  for (Bytes share = from; share <= to; share += step)
    try_at(around / 1000 * share + around % 1000 * share / 1000);
}

std::vector<Cutter::Candidate> Cutter::best() {
  const Bytes least = lower_bounds(matrix_).max_port_bytes;
  const Bytes whole = whole_message_bytes(matrix_);
  if (whole - least <= least / 200) return {};
  best_ = {whole_.front().bytes, whole};
  Bytes most = least - least / 5;
  for (int coarse = 0; coarse < 18; ++coarse, most -= most / 5) try_at(most);
  // If a program's sizes are multiples of one size, W is least where the pieces have that size.
  for (Bytes parts = 2; parts <= 16; ++parts) try_at((whole_.front().bytes - 1) / parts + 1);
  try_around(820, 1240, 30);
  try_around(975, 1025, 5);

  constexpr std::size_t most_candidates = 4;
  const Bytes as_good = std::max<Bytes>(1, whole / 2000);
  std::erase_if(tried_, [&](const Candidate& tried) { return whole - tried.bytes <= whole / 1000; });
  std::ranges::sort(tried_, {}, [&](const Candidate& tried) {
    return std::pair((tried.bytes - best_.bytes) / as_good, -tried.most);
  });
  if (tried_.size() > most_candidates) tried_.resize(most_candidates);
  return tried_;
}

Pieces Cutter::pieces(Bytes most) const {
  Pieces pieces;
  for (const Sized& piece : cut(most)) {
    pieces.messages.push_back(piece.id);
    pieces.bytes.push_back(piece.bytes);
  }
  return pieces;
}

}  // namespace

Schedule make_slices(const Problem& problem) {
  Cutter cutter(problem.matrix);
  std::optional<Schedule> least;
  Bytes least_bytes = max_bytes;
  const auto keep_better = [&](Schedule schedule) {
    const Bytes bytes = phase_bytes(schedule);
    if (least && bytes >= least_bytes) return;
    least_bytes = bytes;
    least = std::move(schedule);
  };
  for (const auto& [most, bytes] : cutter.best()) {
    keep_better(color_pieces(problem.matrix, cutter.pieces(most)));
    if (least_bytes - bytes <= bytes / 1000) break;
  }
  const bool may_whole_be_better = !least || least_bytes > whole_message_bytes(problem.matrix);
  if (may_whole_be_better) keep_better(make_coloring_by_size(problem));
  return *std::move(least);
}

}  // namespace nuice::sched
