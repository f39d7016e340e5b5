// SPDX-License-Identifier: BSD-3-Clause
// The rounds of distributed planning, for any world: all ranks in one process (all_ranks.hpp), or one rank
// per process with MPI (exchange/plan/distributed/local_plan.cpp).
#pragma once

#include <cstdint>
#include <functional>

#include "schedulers/distributed/palette.hpp"

namespace nuice::distributed {

/// How ranks communicate. All functions are collective: all ranks call them in the same order.
class World {
 public:
  virtual ~World() = default;

  /// Calls Turn::open() for every sender.
  virtual void open() = 0;
  /// Delivers the control messages of the last turn. A rank gets them by ascending sender. Returns the number
  /// of offers among the control messages of all ranks; each offer stands for a message without a colour.
  virtual std::uint64_t deliver() = 0;
  /// Returns Turn::unsettled_sizes() of the last turn, summed over all ranks.
  virtual SizeCounts unsettled_sizes() = 0;
  /// Calls Turn::take() for every rank that has control messages: for receivers in odd rounds, for senders in
  /// even rounds.
  virtual void turn(std::uint32_t round) = 0;
  /// Calls Turn::close() for the same ranks as turn().
  virtual void close(std::uint32_t round) = 0;
};

/// Called after every round, with the number of rounds so far and the number of messages without a colour.
using OnRound = std::function<void(std::uint32_t round, std::uint64_t unsettled)>;

/// Runs rounds until every message has a colour. Returns the number of rounds. The same messages, seed and
/// palette give the same colours in every world, independent of timing.
std::uint32_t run_rounds(World& world, Palette& palette, const OnRound& on_round = {});

}  // namespace nuice::distributed
