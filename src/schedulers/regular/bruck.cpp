// SPDX-License-Identifier: BSD-3-Clause
// BRUCK, store and forward by digits (Bruck et al., IEEE TPDS 8(11), 1997: the index operation with radix r).
// It is related to the crystal router (Fox et al., Solving Problems on Concurrent Processors, 1988), which
// uses the bits of a hypercube.
//
// A message must travel the distance (dst - src) mod n. Written with radix r the distance has ceil(log_r n)
// digits. In phase (k, j) every rank sends all messages whose digit k is j, as one transfer, to the rank j
// r^k ahead. These include messages that it holds for other ranks. So there are at most (r - 1) ceil(log_r n)
// phases for any number of ranks and any matrix. Each phase is a shift, and a message takes one hop for each
// digit that is not 0. r = 2 has the fewest start-ups and the most bytes; with r = n every message goes
// directly.
//
// The paper chooses r for equal messages between all ranks, by weighing start-ups against bytes. NUICE
// chooses r for the given matrix. Of 2 and the radices n^(1/1), n^(1/2), n^(1/3), n^(1/4), rounded up, it
// takes the radix with the least phases * phase_cost_bytes + phase bytes.
//
// BRUCK_KPORT does the same for ranks that send to several ranks at once (the k-port model of the same
// paper). The shifts of a digit do not wait for each other, so they are one phase. The radix is sqrt(n),
// which Fan et al. (HPDC '22) found best in most cases. It gives two phases for any matrix, and 2 (sqrt(n) -
// 1) messages per rank.
//
// FORWARD_SMALL, an extension of NUICE, uses bruck_kport for small messages only. Other messages are sent
// directly, all at once, in the last phase. Forwarding helps if a rank has many partners but few bytes for
// most of them, because the cost then depends on the number of messages.
//
// Cost: O((m + n) log n); the schedule has a piece (24 bytes) for every hop of every message.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "nuice/core/interrupt.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

/// Messages sorted by one digit of their distance.
class Shifts {
 public:
  /// Takes the messages of at most `largest` bytes.
  explicit Shifts(const CommMatrix& matrix, Bytes largest = max_bytes)
      : matrix_(matrix), held_(static_cast<std::size_t>(matrix.num_ranks()), 0) {
    ids_.reserve(matrix.num_messages());
    at_.reserve(matrix.num_messages());
    for (MessageId id = 0; id < matrix.num_messages(); ++id)
      if (matrix.bytes(id) <= largest) ids_.push_back(id);
  }

  std::size_t num_messages() const { return ids_.size(); }

  /// Calls visit(from, to, messages) for every transfer, and begin() before each phase that has transfers.
  /// by_digit: whether all shifts of a digit are one phase.
  template <typename Begin, typename Visit>
  void walk(std::int64_t radix, bool by_digit, Begin&& begin, Visit&& visit) {
    at_.clear();
    for (MessageId id = 0; id < matrix_.num_messages(); ++id) at_.push_back(matrix_.src(id));
    for (std::int64_t weight = 1; weight < num_ranks(); weight *= radix) {
      sort_by_digit(radix, weight);
      bool has_begun = false;
      for (std::size_t digit = 1; digit + 1 < begin_.size(); ++digit) {
        const std::span movers(order_.data() + begin_[digit], begin_[digit + 1] - begin_[digit]);
        if (movers.empty()) continue;
        if (!by_digit || !has_begun) begin();
        has_begun = true;
        const std::int64_t shift = static_cast<std::int64_t>(digit) * weight;
        for_each_holder(movers, [&](Rank from, std::span<const MessageId> messages) {
          const auto to = static_cast<Rank>((from + shift) % num_ranks());
          visit(from, to, messages);
          for (const MessageId id : messages) at_[id] = to;
        });
      }
    }
  }

 private:
  std::int64_t num_ranks() const { return matrix_.num_ranks(); }

  /// Fills order_ by digit: order_[begin_[d] .. begin_[d + 1]) are the messages with digit d, by ascending
  /// id.
  void sort_by_digit(std::int64_t radix, std::int64_t weight) {
    const auto digit = [&](MessageId id) {
      const std::int64_t distance = (matrix_.dst(id) - matrix_.src(id) + num_ranks()) % num_ranks();
      return static_cast<std::size_t>(distance / weight % radix);
    };
    begin_.assign(static_cast<std::size_t>(radix) + 1, 0);
    for (const MessageId id : ids_) ++begin_[digit(id) + 1];
    for (std::size_t d = 1; d < begin_.size(); ++d) begin_[d] += begin_[d - 1];
    order_.resize(ids_.size());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (const MessageId id : ids_) order_[next[digit(id)]++] = id;
  }

  /// Calls visit(holder, messages) for each holder, in the order in which holders first occur. held_ is all 0
  /// before and after.
  template <typename Visit>
  void for_each_holder(std::span<const MessageId> movers, Visit&& visit) {
    holders_.clear();
    for (const MessageId id : movers)
      if (held_[static_cast<std::size_t>(at_[id])]++ == 0) holders_.push_back(at_[id]);
    std::size_t end = 0;
    for (const Rank holder : holders_) {
      std::size_t& count = held_[static_cast<std::size_t>(holder)];
      const std::size_t first = end;
      end += count;
      count = first;  // from now on the place for this holder's next message
    }
    sorted_.resize(movers.size());
    for (const MessageId id : movers) sorted_[held_[static_cast<std::size_t>(at_[id])]++] = id;
    std::size_t first = 0;
    for (const Rank holder : holders_) {
      const std::size_t last = held_[static_cast<std::size_t>(holder)];
      visit(holder, std::span<const MessageId>(sorted_).subspan(first, last - first));
      held_[static_cast<std::size_t>(holder)] = 0;
      first = last;
    }
  }

  const CommMatrix& matrix_;
  std::vector<MessageId> ids_;      // ascending
  std::vector<Rank> at_;            // by message: the rank that holds it
  std::vector<MessageId> order_;    // by digit
  std::vector<std::size_t> begin_;  // by digit
  std::vector<MessageId> sorted_;   // of one phase, by holder
  std::vector<Rank> holders_;       // of one phase
  std::vector<std::size_t> held_;   // by rank
};

/// Returns the least r >= 2 with r^digits >= n.
std::int64_t root_of(std::int64_t n, int digits) {
  const auto reaches = [&](std::int64_t r) {
    std::int64_t power = 1;
    for (int i = 0; i < digits && power < n; ++i) power *= r;
    return power >= n;
  };
  std::int64_t low = 2;
  std::int64_t high = std::max<std::int64_t>(2, n);
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    reaches(middle) ? high = middle : low = middle + 1;
  }
  return low;
}

struct Load {
  std::size_t num_pieces = 0;
  std::size_t num_phases = 0;
  double bytes = 0;  // sum of the largest transfers of all phases

  double cost(Bytes phase_cost_bytes) const {
    return static_cast<double>(num_phases) * static_cast<double>(phase_cost_bytes) + bytes;
  }
};

Load load_of(const CommMatrix& matrix, Shifts& shifts, std::int64_t radix) {
  Load load;
  double largest = 0;  // of a phase
  const auto begin = [&] {
    load.bytes += std::exchange(largest, 0);
    ++load.num_phases;
  };
  shifts.walk(radix, false, begin, [&](Rank, Rank, std::span<const MessageId> messages) {
    load.num_pieces += messages.size();
    double sent = 0;
    for (const MessageId id : messages) sent += static_cast<double>(matrix.bytes(id));
    largest = std::max(largest, sent);
  });
  load.bytes += largest;
  return load;
}

struct Choice {
  std::int64_t radix = 2;
  Load load;
};

/// Returns the radix with the least phases * phase_cost_bytes + phase bytes.
Choice choose(const Problem& problem, Shifts& shifts) {
  Choice best;
  for (const std::int64_t radix : bruck_radices(problem.matrix.num_ranks())) {
    check_interrupt();
    const Load load = load_of(problem.matrix, shifts, radix);
    const Bytes cost = problem.phase_cost_bytes;
    if (best.load.num_phases == 0 || load.cost(cost) < best.load.cost(cost)) best = {radix, load};
  }
  return best;
}

Schedule schedule_of(const CommMatrix& matrix, Shifts& shifts, std::int64_t radix, bool by_digit,
                     std::size_t num_pieces) {
  Schedule schedule(matrix.num_ranks());
  schedule.reserve(num_pieces);
  std::vector<Piece> pieces;
  const auto begin = [&] {
    check_interrupt();
    schedule.begin_phase();
  };
  shifts.walk(radix, by_digit, begin, [&](Rank from, Rank to, std::span<const MessageId> messages) {
    pieces.clear();
    for (const MessageId id : messages) pieces.push_back({id, 0, matrix.bytes(id)});
    schedule.add(from, to, pieces);
  });
  return schedule;
}

/// Makes the two phases of radix sqrt(n). The schedule has memory for `straight` more pieces.
Schedule in_two_phases(const CommMatrix& matrix, Shifts& shifts, std::size_t straight) {
  const std::int64_t radix = root_of(matrix.num_ranks(), 2);
  return schedule_of(matrix, shifts, radix, true, 2 * shifts.num_messages() + straight);
}

}  // namespace

/// They ascend, so that choose() takes the one with the fewest phases if several cost the same.
std::vector<std::int64_t> bruck_radices(Rank ranks) {
  std::vector<std::int64_t> radices = {2};
  for (int digits = 4; digits >= 1; --digits) radices.push_back(root_of(ranks, digits));
  const auto repeated = std::ranges::unique(radices);
  radices.erase(repeated.begin(), repeated.end());
  return radices;
}

Schedule make_bruck(const Problem& problem) {
  Shifts shifts(problem.matrix);
  const Choice choice = choose(problem, shifts);
  return schedule_of(problem.matrix, shifts, choice.radix, false, choice.load.num_pieces);
}

Schedule make_bruck_kport(const Problem& problem) {
  Shifts shifts(problem.matrix);
  return in_two_phases(problem.matrix, shifts, 0);
}

/// Returns the upper size limit of forwarded messages. Forwarding uses two more ports, and the forwarding
/// rank may carry twice the average load. For most matrices of real programs the times with limits from a
/// sixteenth of the phase's cost to the whole cost differ by less than 3 % (bench/run.py applications).
Bytes most_forwarded(Bytes phase_cost_bytes) { return phase_cost_bytes / 4; }

Schedule make_forward_small(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  const Bytes largest = most_forwarded(problem.phase_cost_bytes);
  Shifts shifts(matrix, largest);
  const std::size_t straight = matrix.num_messages() - shifts.num_messages();
  Schedule schedule = in_two_phases(matrix, shifts, straight);
  if (straight == 0) return schedule;
  if (schedule.num_phases() == 0) schedule.begin_phase();
  const auto add = [&](MessageId id) {
    if (matrix.bytes(id) > largest) schedule.add_whole(matrix, id);
  };
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    // Starts at the rank after this one, so that not all ranks begin with the same receivers.
    const auto next =
        std::ranges::find_if(matrix.sent_by(rank), [&](MessageId id) { return matrix.dst(id) > rank; });
    std::ranges::for_each(next, matrix.sent_by(rank).end(), add);
    std::ranges::for_each(matrix.sent_by(rank).begin(), next, add);
  }
  return schedule;
}

}  // namespace nuice::sched
