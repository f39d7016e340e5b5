// SPDX-License-Identifier: BSD-3-Clause
// What every watchdog needs: how long a rank has looked for progress and found none, and which ranks its report names. The clock
// is the caller's.
//
//   QuietTime quiet;
//   quiet.restart();                                       // a wait begins
//   ... quiet.look(events, now_s, watchdog_s / 10);        // at every look; events: a number that grows with every progress
//   if (quiet.seconds() >= watchdog_s) ...                 // give up
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
  /// Of the time since the last look most_s counts at most, as this rank may have been stopped or busy, and others may have
  /// waited for it meanwhile.
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

/// The time that others have to answer a question, of which a moment at most counts between two looks: where this rank waits for a
/// core, the others do too, and no rank is at fault. Bounded all the same.
class AnswerTime {
 public:
  /// At every look.
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

/// "rank 2, rank 3 and 5 more", each once, in order. At least one.
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
