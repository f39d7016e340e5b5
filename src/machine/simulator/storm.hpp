// SPDX-License-Identifier: BSD-3-Clause
// What repeats itself while a long message passes: ranks of DRS_N that ask and are refused, senders that a full queue
// turns away. A message of 1 TiB is asked for billions of times, all alike.
//
// The first of a run (DrsOptions::refusals_one_by_one) are simulated one by one. Later, when nothing else has happened for a whole window
// of them, the windows that follow like it are counted and not simulated: as many as fit before the first message,
// or the first other event, is due. Rates, counts and times go on as in the window; where the repeats have a period, as
// they nearly always have, that is what would have come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "machine/simulator/network.hpp"
#include "nuice/plan/simulate.hpp"

namespace nuice::machine {

class Storm {
 public:
  /// The state of a run at one moment, as far as repeats change it.
  struct Snapshot {
    double time = 0;
    std::uint64_t inquiries = 0;
    std::uint64_t refusals = 0;
    std::uint64_t timeouts = 0;
    std::vector<RankTimes> ranks{};
    std::vector<double> work_left_s{};  // by rank; 0 where the processor does nothing
    std::vector<std::pair<TransferId, double>> bytes_left{};
  };

  Storm(std::size_t num_ranks, std::uint64_t one_by_one)
      : one_by_one_(one_by_one), window_(std::max<std::uint64_t>(4096, 16 * num_ranks)) {}

  /// Something else than a repeat has happened.
  void calm() {
    count_ = 0;
    has_first_ = false;
  }

  /// A repeat of `who`, a rank or a transfer. Windows begin and end with repeats of the same one.
  void repeat(std::uint64_t who) {
    ++total_;
    if (count_++ == 0) who_ = who;
    if (total_ > one_by_one_ && who == who_ && count_ >= window_) due_ = true;
  }

  /// Whether a window has just ended. To be asked for when all events of a time are done.
  bool due() const { return due_; }

  /// At the end of a window: the beginning of the next one, or nullptr at the end of the first.
  const Snapshot* begin_window(Snapshot now) {
    std::swap(first_, now);
    last_ = std::move(now);
    due_ = false;
    count_ = 1;
    return std::exchange(has_first_, true) ? &last_ : nullptr;
  }
  const Snapshot& current() const { return first_; }

 private:
  std::uint64_t one_by_one_;
  std::uint64_t window_;  // repeats
  std::uint64_t total_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t who_ = 0;
  bool due_ = false;
  bool has_first_ = false;
  Snapshot first_;
  Snapshot last_;
};

}  // namespace nuice::machine
