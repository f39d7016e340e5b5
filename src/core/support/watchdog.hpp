// SPDX-License-Identifier: BSD-3-Clause
// The common part of all watchdogs: measures for how long a rank has seen no progress, and writes the ranks
// of a report. The caller provides the clock.
//
//   QuietTime quiet;
//   quiet.restart();                                  // a wait begins
//   ... quiet.look(events, now_s, watchdog_s / 10);   // at every poll; progress changes the number `events`
//   if (quiet.seconds() >= watchdog_s) ...            // time out
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice {

class QuietTime {
 public:
  void restart() { *this = {}; }
  /// Checks for progress. The time since the last call counts as at most most_s seconds: this rank may have
  /// been stopped or busy, and other ranks may have waited for this rank.
  void look(std::int64_t events, double now_s, double most_s) {
    const bool is_quiet = has_looked_ && events == events_;
    quiet_s_ = is_quiet ? quiet_s_ + std::min(now_s - last_look_s_, most_s) : 0;
    events_ = events;
    last_look_s_ = now_s;
    has_looked_ = true;
  }
  double seconds() const { return quiet_s_; }

 private:
  std::int64_t events_ = 0;
  double quiet_s_ = 0;
  double last_look_s_ = 0;
  bool has_looked_ = false;
};

/// The time that other ranks have to answer a question. The time between two checks counts only up to a
/// limit: if this rank waits for a core, the other ranks may also wait for one, and no rank is at fault. The
/// total time is limited too.
class AnswerTime {
 public:
  /// Returns whether the time is over. Call it at every check.
  bool is_over(double now_s) {
    if (begun_s_ == 0) begun_s_ = now_s;
    looked_.look(0, now_s, most_between_looks_s);
    return looked_.seconds() >= limit_s || now_s - begun_s_ >= most_s;
  }

 private:
  static constexpr double limit_s = 0.05;
  static constexpr double most_between_looks_s = 0.0025;
  static constexpr double most_s = 1;
  QuietTime looked_;
  double begun_s_ = 0;
};

/// Returns a list such as "rank 2, rank 3 and 5 more", with each rank once, in order. Requires at least one
/// rank.
inline std::string names_of(std::vector<Rank> ranks) {
  std::ranges::sort(ranks);
  const auto repeats = std::ranges::unique(ranks);
  ranks.erase(repeats.begin(), repeats.end());
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
    text += (i == 0 ? "rank " : ", rank ") + std::to_string(ranks[i]);
  if (ranks.size() > most) text += " and " + std::to_string(ranks.size() - most) + " more";
  return text;
}

}  // namespace nuice
