// SPDX-License-Identifier: BSD-3-Clause
// AC, asynchronous communication (NICE fig. 4; 003 fig. 2): nothing is scheduled.
//
// One phase holds all messages. The executor posts all receives, starts all sends, and then waits. Sends are
// in random order (004 s.3.1): in a fixed order all ranks would begin with the same receivers. Every rank
// draws its own order, which no other rank needs to know (orders.hpp). Strip mining (003 s.3.1) is an option
// of the executor (AsyncOptions::max_sends). It limits the messages in flight and does not change the order.
// Cost: O(messages).
#include <numeric>
#include <vector>

#include "nuice/core/random.hpp"
#include "schedulers/regular/orders.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

std::vector<std::uint32_t> ac_order(std::uint64_t seed, Rank src, std::size_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  Random random(mix64(seed) + static_cast<std::uint64_t>(src));
  random.shuffle(std::span(order));
  return order;
}

Schedule make_ac(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  Schedule schedule(matrix.num_ranks());
  schedule.reserve(matrix.num_messages());
  for (Rank src = 0; src < matrix.num_ranks(); ++src) {
    const auto sent = matrix.sent_by(src);
    for (const std::uint32_t k : ac_order(problem.seed, src, sent.size()))
      schedule.add_whole(matrix, sent[k]);
  }
  return schedule;
}

}  // namespace nuice::sched
