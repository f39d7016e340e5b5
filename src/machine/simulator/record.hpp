// SPDX-License-Identifier: BSD-3-Clause
// Records the times of every rank: work, idle time, and, if requested, the timeline.
#pragma once

#include <vector>

#include "nuice/plan/simulate.hpp"

namespace nuice::machine {

class Record {
 public:
  Record(Rank num_ranks, bool keep_timeline)
      : times_(static_cast<std::size_t>(num_ranks)),
        active_(static_cast<std::size_t>(num_ranks)),
        keep_timeline_(keep_timeline) {}

  RankTimes& of(Rank rank) { return times_[static_cast<std::size_t>(rank)]; }

  /// Records that the rank's processor, or its port in one direction, begins to work.
  void begin_active(Rank rank, double now) {
    Active& a = active_[static_cast<std::size_t>(rank)];
    if (a.count++ == 0) of(rank).idle_s += now - a.since;
  }
  void end_active(Rank rank, double now) {
    Active& a = active_[static_cast<std::size_t>(rank)];
    if (--a.count == 0) a.since = now;
  }

  void add(const Interval& interval) {
    if (keep_timeline_ && interval.end_s > interval.begin_s) timeline_.push_back(interval);
  }

  /// Moves the record into `result`, whose member `seconds` must already be set.
  void finish(Simulation& result);

 private:
  struct Active {
    int count = 0;
    double since = 0;
  };
  std::vector<RankTimes> times_;
  std::vector<Active> active_;
  std::vector<Interval> timeline_;
  bool keep_timeline_;
};

}  // namespace nuice::machine
