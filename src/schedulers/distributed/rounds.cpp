// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/distributed/rounds.hpp"

namespace nuice::distributed {

std::uint32_t run_rounds(World& world, Palette& palette, const OnRound& on_round) {
  world.open();
  for (std::uint32_t round = 1;; ++round) {
    const std::uint64_t unsettled = world.deliver();
    if (on_round) on_round(round, unsettled);
    if (unsettled == 0) {
      world.close(round);
      return round;
    }
    if (palette.needs_more(unsettled))
      palette.add(palette.is_flat() ? SizeCounts() : world.unsettled_sizes());
    world.turn(round);
  }
}

}  // namespace nuice::distributed
