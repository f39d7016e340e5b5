// SPDX-License-Identifier: BSD-3-Clause
// LIB and REB, linear and recursive broadcast (001 s.3.6), and the table that lists them.
//
// Ranks form a chain. The root comes first, then the ranks of the group follow by ascending number,
// cyclically from the root. In a broadcast to all ranks, place p is therefore rank (root + p) mod n; the
// paper takes root 0 "without loss of generality". n is the length of the chain, b the bytes of the message,
// alpha the start-up time and beta the time per byte. LIB: the root sends to one rank after another. This
// takes n - 1 steps and the time (n - 1) (alpha + b beta). REB (fig. 9): in step j = 1, 2, ... every rank
// that has the message sends it N / 2^j places on, where N is n rounded up to a power of two. Places without
// a rank are left out. This takes ceil(log2 n) steps, each alpha + b beta. In the second step, processor N/2
// sends to 3N/2 according to the paper's text, but to 3N/4 according to its figure, which NUICE follows.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "core/support/most_ranks.hpp"
#include "core/support/table.hpp"
#include "nuice/core/error.hpp"
#include "nuice/plan/broadcaster.hpp"

namespace nuice {
namespace {

BroadcastSchedule make_lib(Rank num_ranks, std::span<const Rank> chain) {
  BroadcastSchedule schedule{num_ranks, chain[0]};
  for (const Rank rank : chain.subspan(1)) schedule.steps.push_back({{chain[0], rank}});
  return schedule;
}

BroadcastSchedule make_reb(Rank num_ranks, std::span<const Rank> chain) {
  BroadcastSchedule schedule{num_ranks, chain[0]};
  for (std::size_t distance = std::bit_ceil(chain.size()) / 2; distance > 0; distance /= 2) {
    std::vector<Copy>& step = schedule.steps.emplace_back();
    for (std::size_t place = 0; place + distance < chain.size(); place += 2 * distance)
      step.push_back({chain[place], chain[place + distance]});
  }
  return schedule;
}

constexpr std::array broadcaster_table{
    Broadcaster{.name = "lib",
                .summary = "linear broadcast: the root sends to one rank after the other",
                .source = "001 s.3.6",
                .make = make_lib},
    Broadcaster{.name = "reb",
                .summary = "recursive broadcast: every rank that has the message sends it on, log2 n steps",
                .source = "001 s.3.6, fig. 9",
                .make = make_reb},
};

void check_rank(const std::string& what, Rank rank, Rank num_ranks) {
  if (rank >= 0 && rank < num_ranks) return;
  throw Error(ErrorCode::invalid_argument, "broadcast: the " + what + " is rank " + std::to_string(rank) +
                                               ", there are " + std::to_string(num_ranks) + " ranks");
}

/// Returns the chain that is described at the top of this file.
std::vector<Rank> make_chain(Rank num_ranks, Rank root, std::span<const Rank> group) {
  check_rank("root", root, num_ranks);
  for (const Rank rank : group) check_rank("member", rank, num_ranks);
  std::vector<Rank> chain(group.begin(), group.end());
  std::ranges::sort(chain);
  if (const auto twice = std::ranges::adjacent_find(chain); twice != chain.end())
    throw Error(ErrorCode::invalid_argument,
                "broadcast: rank " + std::to_string(*twice) + " is twice in the group");
  auto place = std::ranges::lower_bound(chain, root);
  if (place == chain.end() || *place != root) place = chain.insert(place, root);
  std::ranges::rotate(chain, place);
  return chain;
}

}  // namespace

std::span<const Broadcaster> broadcasters() { return broadcaster_table; }

BroadcastSchedule make_broadcast(std::string_view name, Rank num_ranks, Rank root) {
  core::require_at_most_max_ranks(num_ranks);
  std::vector<Rank> all(static_cast<std::size_t>(std::max(num_ranks, 0)));
  std::iota(all.begin(), all.end(), 0);
  return make_broadcast(name, num_ranks, root, all);
}

BroadcastSchedule make_broadcast(std::string_view name, Rank num_ranks, Rank root,
                                 std::span<const Rank> group) {
  return core::require_row(broadcaster_table, "broadcast", name)
      .make(num_ranks, make_chain(num_ranks, root, group));
}

}  // namespace nuice
