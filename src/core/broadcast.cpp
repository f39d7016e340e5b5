// SPDX-License-Identifier: BSD-3-Clause
// The checker of broadcasts, which follows step by step which ranks have the message; and the slices of
// ranks.
#include "nuice/core/broadcast.hpp"

#include "core/support/most_ranks.hpp"

namespace nuice {
namespace {

class Followed {
 public:
  Followed(const BroadcastSchedule& schedule, std::span<const Rank> group)
      : num_ranks_(schedule.num_ranks), ranks_(static_cast<std::size_t>(schedule.num_ranks)) {
    for (const Rank rank : group) {
      if (is_rank(rank)) of(rank).needs_it = true;
    }
    if (is_rank(schedule.root)) of(schedule.root).has_it_from = 0;
  }

  /// Makes a copy. Returns its fault, or an empty string. Steps count from 1 here: the root has the message
  /// from step 0 on.
  std::string make(std::size_t step, const Copy& copy) {
    const auto fault = [&](const std::string& what) {
      return "step " + std::to_string(step - 1) + ", rank " + std::to_string(copy.src) + " -> rank " +
             std::to_string(copy.dst) + ": " + what;
    };
    if (!is_rank(copy.src) || !is_rank(copy.dst))
      return fault("ranks go from 0 to " + std::to_string(num_ranks_ - 1));
    State& src = of(copy.src);
    State& dst = of(copy.dst);
    if (src.has_it_from == never) return fault("the sender does not have the message");
    if (src.has_it_from == step) return fault("the sender gets the message in the same step");
    if (src.last_sent_in == step) return fault("the sender sends twice in the step");
    if (dst.has_it_from != never) return fault("the receiver has the message already");
    if (!dst.needs_it) return fault("the receiver is not in the group");
    src.last_sent_in = step;
    dst.has_it_from = step;
    return {};
  }

  std::string find_unreached() const {
    for (Rank rank = 0; rank < num_ranks_; ++rank) {
      const State& state = ranks_[static_cast<std::size_t>(rank)];
      if (state.needs_it && state.has_it_from == never)
        return "rank " + std::to_string(rank) + " does not get the message";
    }
    return {};
  }

  bool is_rank(Rank rank) const { return rank >= 0 && rank < num_ranks_; }

 private:
  static constexpr std::size_t never = ~std::size_t{0};
  struct State {
    bool needs_it = false;
    std::size_t has_it_from = never;  // a second copy to a rank is a fault, because the rank has the message
                                      // already
    std::size_t last_sent_in = never;
  };
  State& of(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  Rank num_ranks_;
  std::vector<State> ranks_;
};

}  // namespace

std::optional<std::string> check_broadcast(const BroadcastSchedule& schedule, std::span<const Rank> group) {
  if (schedule.num_ranks < 0) return "the number of ranks is negative";
  core::require_at_most_max_ranks(schedule.num_ranks);
  Followed followed(schedule, group);
  if (!followed.is_rank(schedule.root))
    return "the root is rank " + std::to_string(schedule.root) + " of " + std::to_string(schedule.num_ranks);
  for (const Rank rank : group) {
    if (!followed.is_rank(rank)) return "the group has the rank " + std::to_string(rank);
  }
  for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
    if (schedule.steps[step].empty()) return "step " + std::to_string(step) + " is empty";
    for (const Copy& copy : schedule.steps[step]) {
      if (std::string fault = followed.make(step + 1, copy); !fault.empty()) return fault;
    }
  }
  if (std::string fault = followed.find_unreached(); !fault.empty()) return fault;
  return std::nullopt;
}

BroadcastTable slice(const BroadcastSchedule& schedule, Rank rank) {
  BroadcastTable table{.rank = rank,
                       .num_ranks = schedule.num_ranks,
                       .root = schedule.root,
                       .num_steps = static_cast<std::uint32_t>(schedule.steps.size())};
  for (std::uint32_t step = 0; step < table.num_steps; ++step) {
    for (const auto& [src, dst] : schedule.steps[step]) {
      if (src == rank) table.sends.push_back({step, dst});
      if (dst == rank) table.receive = {step, src};
    }
  }
  return table;
}

}  // namespace nuice
