// SPDX-License-Identifier: BSD-3-Clause
// The rounds of distributed planning, for any world: all ranks in one process (all_ranks.hpp), or one rank on MPI
// (exchange/plan/distributed/planners.cpp).
#pragma once

#include <cstdint>
#include <functional>

#include "schedulers/distributed/palette.hpp"

namespace nuice::distributed {

/// How ranks reach each other. Everything is collective: all ranks call the same in the same order.
class World {
 public:
  virtual ~World() = default;

  /// Turn::open() of every sender.
  virtual void open() = 0;
  /// Hands over the letters of the last turn, those to one rank by ascending sender. Returns the sum over all ranks of
  /// offers that are among them: messages without a colour.
  virtual std::uint64_t deliver() = 0;
  /// Turn::unsettled_sizes() of the turn before, summed over all ranks.
  virtual SizeCounts unsettled_sizes() = 0;
  /// Turn::take() of every rank that has letters: receivers in odd rounds, senders in even ones.
  virtual void turn(std::uint32_t round) = 0;
  /// Turn::close() likewise.
  virtual void close(std::uint32_t round) = 0;
};

/// Told after every round: how many there were, and how many messages have no colour yet.
using OnRound = std::function<void(std::uint32_t round, std::uint64_t unsettled)>;

/// Until every message has a colour. Returns the number of rounds.
/// The same messages, seed and palette give the same colours in every world, whatever the timing.
std::uint32_t run_rounds(World& world, Palette& palette, const OnRound& on_round = {});

}  // namespace nuice::distributed
