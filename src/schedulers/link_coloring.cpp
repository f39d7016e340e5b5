// SPDX-License-Identifier: BSD-3-Clause
// Link colouring: schedules without node or link contention in nearly the fewest possible phases.
//
// No such schedule has fewer phases than the maximum, over ports and links, of messages per slot. First fit
// (rs_nl) needs many more phases if links are scarce, because it fills links that later messages need.
// Therefore there are two steps:
//
// 1. First fit, starting with the messages whose ports and links are busiest in sum; and again in the order
//   of ids, which gives the pairwise exchange (i xor k) if every rank sends to every rank. The better result
//   is kept.
// 2. While there are more phases than the bound, the smallest phase is dissolved, and its messages are put
//   into other phases. If no phase can take a message, the message evicts others, which are then placed in
//   the same way, the last evicted first. The message goes into the phase whose victims have caused the least
//   trouble so far. The trouble of a message is the number of times that it found no free phase. So the
//   search does not run in circles.
//
// Step 2 is the method by which Nagata and Braysy (Oper. Res. Lett. 37, 2009) save vehicles in routing
// problems; here phases take the role of vehicles. It stops at the bound or at a limit of work, and then uses
// the best result so far. Work is counted, not timed, so plans are the same on all machines.
//
// Cost: let R be the sum of the lengths of all routes. Step 1 takes O(m log m + R * phases / 64). Step 2
// takes at most 400 R + 2 * 10^5 steps, and never more than 1.5 * 10^8 steps, of about 5 ns each. Memory: 4
// bytes per port or link, per phase.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "nuice/core/interrupt.hpp"
#include "nuice/core/random.hpp"
#include "schedulers/graph/packing.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

using Need = Packing::Need;

PhaseId phase_bound(const CommMatrix& matrix, const Packing& packing) {
  double bound = 0;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    for (const Need need : packing.needs(id)) bound = std::max(bound, packing.load(need));
  }
  return static_cast<PhaseId>(std::ceil(bound));
}

void pack_first_fit(Packing& packing, std::span<const MessageId> order) {
  packing.clear();
  for (const MessageId id : order) {
    check_interrupt();
    PhaseId phase = 0;
    const auto free = packing.free_phases(id);
    const auto word = std::ranges::find_if(free, [](std::uint64_t bits) { return bits != 0; });
    if (word == free.end()) {
      phase = packing.num_phases();
      packing.add_phase();
    } else {
      phase = static_cast<PhaseId>((word - free.begin()) * 64 + std::countr_zero(*word));
    }
    packing.put(id, phase);
  }
}

std::vector<MessageId> busiest_first(const Packing& packing, std::vector<MessageId> ids) {
  std::vector<double> sum_of_loads(ids.size(), 0);
  for (const MessageId id : ids) {
    for (const Need need : packing.needs(id)) sum_of_loads[id] += packing.load(need);
  }
  std::ranges::stable_sort(ids, std::ranges::greater{}, [&](MessageId id) { return sum_of_loads[id]; });
  return ids;
}

void pack_first_fit(Packing& packing, MessageId num_messages) {
  std::vector<MessageId> by_id(num_messages);
  std::iota(by_id.begin(), by_id.end(), MessageId{0});
  const std::vector<MessageId> by_load = busiest_first(packing, by_id);
  pack_first_fit(packing, by_load);
  const PhaseId by_load_phases = packing.num_phases();
  pack_first_fit(packing, by_id);
  if (by_load_phases <= packing.num_phases()) pack_first_fit(packing, by_load);
}

/// Step 2 of link colouring: removes phases by evicting messages.
class Ejection {
 public:
  Ejection(Packing& packing, MessageId num_messages)
      : packing_(packing),
        trouble_(num_messages, 1),
        seen_(num_messages, 0),
        work_left_(std::min(1.5e8, 2e5 + 400 * static_cast<double>(packing.num_needs_of_all()))) {}

  /// Removes one phase. If the limit of work is reached, returns false, and some messages have no phase.
  bool remove_phase() {
    outside_ = packing_.dissolve_smallest_phase();
    while (!outside_.empty()) {
      check_interrupt();
      if (work_left_ < 0) return false;
      const MessageId id = outside_.back();
      outside_.pop_back();
      if (const auto phase = choose_free_phase(id)) {
        packing_.put(id, *phase);
      } else {
        ++trouble_[id];
        put_by_force(id, choose_phase_with_least_trouble(id));
      }
    }
    return true;
  }

 private:
  /// Chooses a free phase at random, all with equal probability.
  std::optional<PhaseId> choose_free_phase(MessageId id) {
    const auto free = packing_.free_phases(id);
    work_left_ -= static_cast<double>(free.size() * packing_.needs(id).size());
    std::uint64_t count = 0;
    for (const std::uint64_t bits : free) count += static_cast<std::uint64_t>(std::popcount(bits));
    if (count == 0) return std::nullopt;
    std::uint64_t skip = random_.below(count);
    std::size_t word = 0;
    for (; std::cmp_greater_equal(skip, std::popcount(free[word])); ++word) {
      skip -= static_cast<std::uint64_t>(std::popcount(free[word]));
    }
    std::uint64_t bits = free[word];
    for (; skip > 0; --skip) bits &= bits - 1;
    return static_cast<PhaseId>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
  }

  PhaseId choose_phase_with_least_trouble(MessageId id) {
    work_left_ -= static_cast<double>(packing_.num_phases() * packing_.needs(id).size());
    PhaseId best = 0;
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t num_ties = 0;
    for (PhaseId phase = 0; phase < packing_.num_phases(); ++phase) {
      const std::uint64_t trouble = trouble_of_putting_out(id, phase, least);
      if (trouble > least) continue;
      num_ties = trouble < least ? 1 : num_ties + 1;
      least = trouble;
      if (num_ties == 1 || random_.below(num_ties) == 0) best = phase;
    }
    return best;
  }

  /// Returns the trouble of all messages that block this message in a phase. Stops adding when the sum
  /// exceeds `limit`.
  std::uint64_t trouble_of_putting_out(MessageId id, PhaseId phase, std::uint64_t limit) {
    ++glance_;
    std::uint64_t sum = 0;
    for (const Need need : packing_.needs(id)) {
      if (!packing_.is_full(need, phase)) continue;
      const MessageId victim = choose_victim(need, phase);
      if (victim == Packing::no_message) continue;  // a message that is evicted anyway makes room
      seen_[victim] = glance_;
      sum += trouble_[victim];
      if (sum > limit) break;
    }
    return sum;
  }

  /// Returns the message with the least trouble among the messages that fill a need. Returns `no_message` if
  /// one of them was already chosen for another need.
  MessageId choose_victim(Need need, PhaseId phase) const {
    MessageId victim = Packing::no_message;
    bool has_room = false;
    packing_.for_occupants(need, phase, [&](MessageId occupant) {
      has_room = has_room || seen_[occupant] == glance_;
      if (victim == Packing::no_message || trouble_[occupant] < trouble_[victim]) victim = occupant;
    });
    return has_room ? Packing::no_message : victim;
  }

  void put_by_force(MessageId id, PhaseId phase) {
    ++glance_;  // forgets the victims chosen before
    for (const Need need : packing_.needs(id)) {
      if (!packing_.is_full(need, phase)) continue;
      const MessageId victim = choose_victim(need, phase);
      packing_.take_out(victim);
      outside_.push_back(victim);
    }
    packing_.put(id, phase);
  }

  Packing& packing_;
  Random random_{0};
  std::vector<MessageId> outside_;
  std::vector<std::uint32_t> trouble_;  // by message
  std::vector<std::uint64_t> seen_;     // by message: the glance at which it was last chosen as victim
  std::uint64_t glance_ = 0;
  double work_left_;
};

}  // namespace

Schedule color_on_paths(const Problem& problem, std::span<const std::int64_t> paths) {
  const CommMatrix& matrix = problem.matrix;
  if (matrix.num_messages() == 0) return Schedule(matrix.num_ranks());
  const Routes routes(problem, paths);
  Packing packing(matrix, routes);
  pack_first_fit(packing, matrix.num_messages());
  const PhaseId bound = phase_bound(matrix, packing);
  std::vector<PhaseId> phase_of = packing.phases();
  PhaseId num_phases = packing.num_phases();
  Ejection ejection(packing, matrix.num_messages());
  while (num_phases > bound && ejection.remove_phase()) {
    phase_of = packing.phases();
    num_phases = packing.num_phases();
  }
  return Schedule::of_whole_messages(matrix, phase_of, num_phases, paths);
}

Schedule make_link_coloring(const Problem& problem) { return color_on_paths(problem, {}); }

}  // namespace nuice::sched
