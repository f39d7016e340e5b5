// SPDX-License-Identifier: BSD-3-Clause
// BRUCK, store and forward by digits (Bruck et al., IEEE TPDS 8(11), 1997: the index operation with radix r). Kin to the
// crystal router (Fox et al., Solving Problems on Concurrent Processors, 1988), which takes the bits of a hypercube.
//
// A message has (dst - src) mod n to go. Written with radix r this distance has ceil(log_r n) digits; in phase (k, j) every
// rank hands all messages whose digit k is j to the rank j r^k ahead, those it only keeps for others included, as one
// transfer. So at most (r - 1) ceil(log_r n) phases for any number of ranks and any matrix, each a shift, and a message
// takes one hop for each digit that is not 0. r = 2: fewest start-ups, most bytes; r = n: every message goes straight.
//
// The paper's choice of r weighs start-ups against bytes for equal messages between all. Here (ours) it is made for the
// matrix at hand: of the radices n^(1/1), n^(1/2), n^(1/3), n^(1/4), rounded up, and 2, the one with the least
// phases * phase_cost_bytes + phase bytes.
// BRUCK_KPORT, the same for ranks that send to several at once (the k-port model of the same paper): the shifts of a digit do not
// wait for each other, so they are one phase. Radix sqrt(n), which Fan et al. (HPDC '22) found best in most cases: two phases
// for any matrix, 2 (sqrt(n) - 1) messages a rank.
// TUNA (Fan, Domke, Ba and Kumar, HPDC '25: TuNA and TuNA_l^g), the same with a radix that is chosen, and on hosts with several ranks
// in two legs: first inside the host to the rank in the destination's place, by the digits of the way there; then between hosts
// from place to place, by the digits of the hosts' distance. Each leg has a radix of its own. All messages from a rank to a host that
// it reaches travel as one. As published sizes are sent ahead of every round; a plan knows them.
// Cost: O((m + n) log n); the schedule has a piece (24 bytes) for every hop of every message.
#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "nuice/core/interrupt.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

/// Ranks have places 0 to n - 1, and a leg changes one coordinate of a place: place / stride % length.
struct Leg {
  std::int64_t length;
  std::int64_t stride;
  std::int64_t port_ranks;  ///< That many places, back to back, share a port.

  std::int64_t coordinate(Rank place) const { return place / stride % length; }
  Rank moved(Rank place, std::int64_t shift) const {
    const std::int64_t at = coordinate(place);
    return static_cast<Rank>(place + ((at + shift) % length - at) * stride);
  }
  std::int64_t distance(Rank from, Rank to) const {
    return (coordinate(to) - coordinate(from) + length) % length;
  }
};

/// The places of all ranks, and the legs that all messages take one after the other.
struct Ways {
  std::vector<Rank> place_of;  // by rank
  std::vector<Rank> rank_at;   // by place
  std::vector<Leg> legs;
};

Ways one_leg(Rank num_ranks) {
  std::vector<Rank> same(static_cast<std::size_t>(num_ranks));
  std::iota(same.begin(), same.end(), 0);
  return {same, same, {{num_ranks, 1, 1}}};
}

/// Where hosts have equally many ranks; else hosts are not looked at.
Ways legs_on(const Hosts& hosts) {
  const auto num_ranks = static_cast<std::size_t>(hosts.num_ranks());
  if (num_ranks == 0) return one_leg(0);
  const std::int64_t per_host = hosts.num_ranks() / hosts.num_hosts();
  std::vector<Rank> found(static_cast<std::size_t>(hosts.num_hosts()), 0);
  Ways ways{std::vector<Rank>(num_ranks), std::vector<Rank>(num_ranks), {}};
  for (Rank rank = 0; rank < hosts.num_ranks(); ++rank) {
    const Rank host = hosts.host_of(rank);
    const Rank column = found[static_cast<std::size_t>(host)]++;
    if (column >= per_host) return one_leg(hosts.num_ranks());
    const auto place = static_cast<Rank>(host * per_host + column);
    ways.place_of[static_cast<std::size_t>(rank)] = place;
    ways.rank_at[static_cast<std::size_t>(place)] = rank;
  }
  ways.legs = {{per_host, 1, 1}, {hosts.num_hosts(), per_host, per_host}};
  return ways;
}

/// Messages by what one digit of their distance is.
class Shifts {
 public:
  Shifts(const CommMatrix& matrix, const Ways& ways)
      : matrix_(matrix), ways_(ways), held_(static_cast<std::size_t>(matrix.num_ranks()), 0) {
    at_.reserve(matrix.num_messages());
  }
  std::span<const Leg> legs() const { return ways_.legs; }

  /// Calls visit(from, to, messages) for every transfer of a leg, in places, and begin() before each phase that has any. by_digit:
  /// all shifts of a digit are one phase.
  template <typename Begin, typename Visit>
  void walk(std::size_t leg, std::int64_t radix, bool by_digit, Begin&& begin, Visit&& visit) {
    start(leg);
    const Leg& way = ways_.legs[leg];
    for (std::int64_t weight = 1; weight < way.length; weight *= radix) {
      sort_by_digit(way, radix, weight);
      bool has_begun = false;
      for (std::size_t digit = 1; digit + 1 < begin_.size(); ++digit) {
        const std::span movers(order_.data() + begin_[digit], begin_[digit + 1] - begin_[digit]);
        if (movers.empty()) continue;
        if (!by_digit || !has_begun) begin();
        has_begun = true;
        const std::int64_t shift = static_cast<std::int64_t>(digit) * weight;
        for_each_holder(movers, [&](Rank from, std::span<const MessageId> messages) {
          const Rank to = way.moved(from, shift);
          visit(from, to, messages);
          for (const MessageId id : messages) at_[id] = to;
        });
      }
    }
  }
  Rank rank_at(Rank place) const { return ways_.rank_at[static_cast<std::size_t>(place)]; }

 private:
  Rank place(Rank rank) const { return ways_.place_of[static_cast<std::size_t>(rank)]; }

  /// Every message where the legs before leave it.
  void start(std::size_t leg) {
    at_.clear();
    for (MessageId id = 0; id < matrix_.num_messages(); ++id) {
      Rank at = place(matrix_.src(id));
      for (const Leg& done : legs().first(leg))
        at = done.moved(at, done.distance(at, place(matrix_.dst(id))));
      at_.push_back(at);
    }
  }

  /// order_[begin_[d] .. begin_[d + 1]): the messages with digit d, in the order of their ids.
  void sort_by_digit(const Leg& leg, std::int64_t radix, std::int64_t weight) {
    const auto digit = [&](MessageId id) {
      const std::int64_t distance = leg.distance(place(matrix_.src(id)), place(matrix_.dst(id)));
      return static_cast<std::size_t>(distance / weight % radix);
    };
    begin_.assign(static_cast<std::size_t>(radix) + 1, 0);
    for (MessageId id = 0; id < matrix_.num_messages(); ++id) ++begin_[digit(id) + 1];
    for (std::size_t d = 1; d < begin_.size(); ++d) begin_[d] += begin_[d - 1];
    order_.resize(matrix_.num_messages());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (MessageId id = 0; id < matrix_.num_messages(); ++id) order_[next[digit(id)]++] = id;
  }

  /// In the order in which the holders first occur. held_ is all 0 before and after.
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
      count = first;  // from now on where the next of this holder goes
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
  const Ways& ways_;
  std::vector<Rank> at_;            // by message: the place that holds it
  std::vector<MessageId> order_;    // by digit
  std::vector<std::size_t> begin_;  // by digit
  std::vector<MessageId> sorted_;   // of one phase, by holder
  std::vector<Rank> holders_;       // of one phase
  std::vector<std::size_t> held_;   // by place
};

/// The least r with r^digits >= n; 2 at least.
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

/// Ascending, so that of equal ones that with the fewest phases is taken.
std::vector<std::int64_t> radices(std::int64_t n) {
  std::vector<std::int64_t> radices = {2};
  for (int digits = 4; digits >= 1; --digits) radices.push_back(root_of(n, digits));
  const auto repeated = std::ranges::unique(radices);
  radices.erase(repeated.begin(), repeated.end());
  return radices;
}

struct Load {
  std::size_t num_pieces = 0;
  std::size_t num_phases = 0;
  double bytes = 0;  // sum over the phases of the largest transfer

  double cost(Bytes phase_cost_bytes) const {
    return static_cast<double>(num_phases) * static_cast<double>(phase_cost_bytes) + bytes;
  }
};

Load load_of(const CommMatrix& matrix, Shifts& shifts, std::size_t leg, std::int64_t radix) {
  Load load;
  const std::int64_t port_ranks = shifts.legs()[leg].port_ranks;
  std::vector<double> sent(static_cast<std::size_t>(matrix.num_ranks() / port_ranks));  // by port
  const auto end_phase = [&] {
    load.bytes += sent.empty() ? 0 : *std::ranges::max_element(sent);
    std::ranges::fill(sent, 0);
  };
  const auto begin = [&] {
    end_phase();
    ++load.num_phases;
  };
  shifts.walk(leg, radix, false, begin, [&](Rank from, Rank, std::span<const MessageId> messages) {
    load.num_pieces += messages.size();
    for (const MessageId id : messages)
      sent[static_cast<std::size_t>(from / port_ranks)] += static_cast<double>(matrix.bytes(id));
  });
  end_phase();
  return load;
}

struct Choice {
  std::int64_t radix = 2;
  Load load;
};

/// The radix with the least phases * phase_cost_bytes + phase bytes.
Choice choose(const Problem& problem, Shifts& shifts, std::size_t leg) {
  Choice best;
  for (const std::int64_t radix : radices(shifts.legs()[leg].length)) {
    check_interrupt();
    const Load load = load_of(problem.matrix, shifts, leg, radix);
    const Bytes cost = problem.phase_cost_bytes;
    if (best.load.num_phases == 0 || load.cost(cost) < best.load.cost(cost)) best = {radix, load};
  }
  return best;
}

void append_leg(const CommMatrix& matrix, Shifts& shifts, std::size_t leg, std::int64_t radix, bool by_digit,
                Schedule& schedule) {
  std::vector<Piece> pieces;
  shifts.walk(
      leg, radix, by_digit,
      [&] {
        check_interrupt();
        schedule.begin_phase();
      },
      [&](Rank from, Rank to, std::span<const MessageId> messages) {
        pieces.clear();
        for (const MessageId id : messages) pieces.push_back({id, 0, matrix.bytes(id)});
        schedule.add(shifts.rank_at(from), shifts.rank_at(to), pieces);
      });
}

/// With the best radix for each leg.
Schedule schedule_of(const Problem& problem, const Ways& ways, bool by_digit) {
  Shifts shifts(problem.matrix, ways);
  std::vector<Choice> choices;
  std::size_t num_pieces = 0;
  for (std::size_t leg = 0; leg < ways.legs.size(); ++leg) {
    choices.push_back(choose(problem, shifts, leg));
    num_pieces += choices.back().load.num_pieces;
  }
  Schedule schedule(problem.matrix.num_ranks());
  schedule.reserve(num_pieces);
  for (std::size_t leg = 0; leg < ways.legs.size(); ++leg)
    append_leg(problem.matrix, shifts, leg, choices[leg].radix, by_digit, schedule);
  return schedule;
}

}  // namespace

Schedule make_bruck(const Problem& problem) {
  return schedule_of(problem, one_leg(problem.matrix.num_ranks()), false);
}

Schedule make_bruck_kport(const Problem& problem) {
  const Ways ways = one_leg(problem.matrix.num_ranks());
  Shifts shifts(problem.matrix, ways);
  Schedule schedule(problem.matrix.num_ranks());
  schedule.reserve(std::size_t{2} * problem.matrix.num_messages());
  append_leg(problem.matrix, shifts, 0, root_of(problem.matrix.num_ranks(), 2), true, schedule);
  return schedule;
}

Schedule make_tuna(const Problem& problem) {
  return schedule_of(problem, one_leg(problem.matrix.num_ranks()), true);
}

Schedule make_tuna_on_hosts(const Problem& problem, const Hosts& hosts) {
  return schedule_of(problem, legs_on(hosts), true);
}

}  // namespace nuice::sched
