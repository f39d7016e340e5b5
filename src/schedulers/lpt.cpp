// SPDX-License-Identifier: BSD-3-Clause
// LPT, largest first: every message, from the largest to the smallest, goes into the first phase in which
// both its sender and its receiver are free. So messages of similar size share a phase, which waits only for
// its largest message.
//
// The rule is Graham's largest processing time first (SIAM J. Applied Mathematics 17, 1969), for ports
// instead of processors. Let D be the maximum degree, W the whole-message bound (bounds.hpp) and L the
// largest message. Then:
// * phases <= 2D - 1: in each phase before a message's phase, another message occupies its sender or its
//   receiver.
// * phase_bytes <= 2W - L: of the k phases before a message's phase, its sender or its receiver is busy in at
//   least k/2, with messages at least as large. So the largest message of phase k (counted from 0) is at most
//   the (ceil(k/2) + 1)-th term of W. Each term of W then counts at most twice, and the first term once. No
//   schedule of whole messages is shorter than W.
//
// Cost: O(m log m + m D / 32) time. A port has one bit per phase. If this would be more than 4 bytes per
// message, the port has no bits, and its few messages are scanned instead. At most 20 bytes per message.
#include <bit>
#include <limits>
#include <vector>

#include "core/by_size.hpp"
#include "nuice/core/bounds.hpp"
#include "nuice/core/interrupt.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

using Word = std::uint64_t;
constexpr PhaseId not_yet = std::numeric_limits<PhaseId>::max();

void flip(std::span<Word> bits, PhaseId phase) { bits[phase / 64] ^= Word{1} << (phase % 64); }

/// The phases in which senders are busy, or those in which receivers are busy.
class BusyPhases {
 public:
  BusyPhases(Rank num_ranks, std::size_t max_phases)
      : words_((max_phases + 63) / 64), begin_(static_cast<std::size_t>(num_ranks), none), few_(words_, 0) {}

  /// Call it once for every rank, before any other function.
  void add(Rank rank, std::size_t degree) {
    if (degree * 4 < words_ * sizeof(Word)) return;
    begin_[static_cast<std::size_t>(rank)] = bits_.size();
    bits_.resize(bits_.size() + words_, 0);
  }

  /// Calls body(bits) with one bit per phase. `ids` are the rank's messages.
  template <typename Ids, typename Body>
  PhaseId look_at(Rank rank, const Ids& ids, std::span<const PhaseId> phase_of, Body body) {
    const std::size_t begin = begin_[static_cast<std::size_t>(rank)];
    if (begin != none) return body(std::span<const Word>(bits_).subspan(begin, words_));
    flip_all(ids, phase_of);
    const PhaseId result = body(std::span<const Word>(few_));
    flip_all(ids, phase_of);
    return result;
  }

  void take(Rank rank, PhaseId phase) {
    const std::size_t begin = begin_[static_cast<std::size_t>(rank)];
    if (begin != none) flip(std::span(bits_).subspan(begin, words_), phase);
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  template <typename Ids>
  void flip_all(const Ids& ids, std::span<const PhaseId> phase_of) {
    for (const MessageId id : ids) {
      if (phase_of[id] != not_yet) flip(few_, phase_of[id]);
    }
  }

  std::size_t words_;
  std::vector<std::size_t> begin_;  // by rank: its first word in bits_, or none
  std::vector<Word> bits_;
  std::vector<Word> few_;  // the bits of the last rank asked for, if it has no bits of its own
};

PhaseId first_free(std::span<const Word> sender, std::span<const Word> receiver) {
  std::size_t word = 0;
  while (~(sender[word] | receiver[word]) == 0) ++word;
  return static_cast<PhaseId>(word * 64) +
         static_cast<PhaseId>(std::countr_one(sender[word] | receiver[word]));
}

}  // namespace

Schedule make_lpt(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  const std::size_t max_phases = 2 * std::size_t{lower_bounds(matrix).max_degree};
  BusyPhases senders(matrix.num_ranks(), max_phases);
  BusyPhases receivers(matrix.num_ranks(), max_phases);
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    senders.add(rank, matrix.sent_by(rank).size());
    receivers.add(rank, matrix.received_by(rank).size());
  }
  std::vector<PhaseId> phase_of(matrix.num_messages(), not_yet);
  for (const MessageId id : core::ids_by_size(matrix)) {
    check_interrupt();
    const auto [src, dst, bytes] = matrix.message(id);
    const PhaseId phase = senders.look_at(src, matrix.sent_by(src), phase_of, [&](auto sender) {
      return receivers.look_at(dst, matrix.received_by(dst), phase_of,
                               [&](auto receiver) { return first_free(sender, receiver); });
    });
    phase_of[id] = phase;
    senders.take(src, phase);
    receivers.take(dst, phase);
  }
  return Schedule::of_whole_messages(matrix, phase_of, static_cast<PhaseId>(max_phases));
}

}  // namespace nuice::sched
