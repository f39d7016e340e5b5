// SPDX-License-Identifier: BSD-3-Clause
#include "machine/simulator/record.hpp"

#include <algorithm>
#include <tuple>

namespace nuice::machine {

void Record::finish(Simulation& result) {
  for (std::size_t rank = 0; rank < times_.size(); ++rank) {
    times_[rank].idle_s += std::max(0.0, result.seconds - active_[rank].since);
  }
  std::ranges::sort(timeline_, {}, [](const Interval& i) {
    return std::tuple(i.begin_s, i.rank, i.activity, i.end_s, i.peer);
  });
  result.ranks = std::move(times_);
  result.timeline = std::move(timeline_);
}

}  // namespace nuice::machine
