// SPDX-License-Identifier: BSD-3-Clause
// How many bytes may be on their way to a rank, found from how they arrive. Pure arithmetic: the executor `credit` and the
// simulation in tests/support/port_simulation.hpp run this very code.
//
// Windows stand on a ladder of levels, two to a doubling: least_window_bytes * 2^(level / 2), up to the level that holds all
// that any rank receives, where nothing is asked for any more. Chunks have a ladder of their own, in whole packets of TCP: 2, 4, 8, ...,
// up to a quarter of the window; at start-up an eighth of it.
//
//   within the first exchanges, by this rank   as BBR starts: every window's worth of arrivals is a round. While a round's rate
//                is a quarter above the best before, and no bytes wait in a queue (the least delay of the round from asking to
//                arrival is not twice the least of all), the window doubles. In the end it is 1.25 * best rate * least delay,
//                rounded up to a level. Where ranks are late or the processor is what limits, that is too little; so
//   from exchange to exchange, by all ranks    levels are tried on the user's own exchanges and judged by what counts, the time
//                of the slowest rank: up by doublings while that gains (by fours while it gains much), then the level between
//                the best and the first that was worse, then the one below. What is lost in a queue that is too short shows
//                as time, whatever transport sends it again, but often only when a timer ends; where it is known (TCP), a larger
//                window that loses is refused. Chunks stay as they are meanwhile: what a larger window gains and what larger chunks
//                cost would be one figure otherwise. Then chunks of twice as many packets are tried, and of half as many. Where larger ones
//                gain, both double together as long as that gains.
//   afterwards   exchanges that have become much slower or faster start the search anew. Where the mean, with all slow exchanges
//                in it, is above what the level below usually takes (a transport that now and then waits for a timer), that is
//                taken, and left again if its mean is no better.
//
// All ranks judge by the same reports, the maxima over all ranks, so they choose alike. A report may reach one rank an
// exchange later than another: an exchange in which levels differ is right all the same, as receivers tell senders what they may
// send, and its report is not counted.
// Cost: some arithmetic for a chunk; a report of num_figures numbers for each of the first exchanges, then for one in a block.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::exchange {

/// What any network bears from one sender without a word before: the first flight of TCP, 10 segments (RFC 6928).
inline constexpr Bytes least_window_bytes = 14336;

/// A packet of TCP on Ethernet: less costs one all the same.
inline constexpr Bytes segment_bytes = 1448;

struct WindowBounds {
  Bytes window_bytes = max_bytes;  ///< Never above.
  Bytes chunk_bytes = max_bytes;   ///< Likewise.
  /// What the host that receives most gets: equal on all ranks.
  Bytes most_bytes = 0;
  /// Of a host's window that is this rank's, above 0, at most 1.
  double share = 1;
  bool adapts = true;  ///< Otherwise window and chunk are as the bounds say.
};

class WindowControl {
 public:
  /// Of a block of exchanges. Combined over the ranks by the maximum, number by number.
  static constexpr std::size_t num_figures = 6;
  using Report = std::array<double, num_figures>;

  explicit WindowControl(const WindowBounds& bounds);

  // The window now. It may change between any two calls below; the chunk only between two exchanges.
  Bytes window_bytes() const { return window_at(level_, bounds_.share); }
  Bytes chunk_bytes() const { return chunk_at(level_, chunk_step_, bounds_.share); }
  /// What is granted when an exchange begins, to all senders at once. From there on the window grows by what arrives: as fast
  /// as the port carries, so that the queue does not have to take a window that comes from all sides.
  Bytes first_window_bytes() const;
  /// share: of a host's window, where ranks of it have left more to this one.
  Bytes window_after(Bytes first, Bytes landed, double share = 0) const {
    const Bytes window = window_at(level_, std::max(share, bounds_.share));
    return window - first < landed ? window : first + landed;
  }
  /// Of a rank with another share.
  Bytes window_for(double share) const { return window_at(level_, share); }
  /// No chunk is ever smaller. Equal on all ranks whose bounds for chunks are.
  static Bytes least_chunk_bytes(const WindowBounds& bounds);
  /// Whether nobody has to ask from the start. Equal on all ranks.
  static bool holds_all(const WindowBounds& bounds) { return WindowControl(bounds).holds_all(0); }
  bool adapts() const { return bounds_.adapts; }

  // Of one exchange. Seconds of one clock.
  void start(double now_s);
  /// So many bytes have arrived, delay_s after they were asked for; below 0: they were not.
  void land(double now_s, Bytes bytes, double delay_s);
  void finish(double now_s);

  // Among ranks.
  /// Whether a block ends with this exchange, the first being number 1: all ranks then make a report.
  static bool ends_block(std::int64_t exchange) {
    return exchange <= dense_exchanges ? exchange % dense_block == 1 : exchange % block == 0;
  }
  /// Whether receivers may tell all their sources of another chunk in this exchange.
  static bool is_confirmed(std::int64_t exchange) {
    return exchange <= dense_exchanges || exchange % block == 0;
  }
  static constexpr std::int64_t dense_exchanges = 96;
  /// A report is heard of two exchanges later; in that exchange the window changes, and the next one can be judged.
  static constexpr std::int64_t dense_block = 3;
  static constexpr std::int64_t block = 16;
  /// After finish() of an exchange that ends a block: this rank's figures of it. An exchange in which the window changed is not
  /// counted, as its chunks are those of the window before; where there is no other, nothing is said.
  /// lost_share: of what this rank has sent since the last report, as far as it knows what had to be sent again.
  Report report(double lost_share);
  /// What all ranks reported, in the order of the blocks, the same on all ranks.
  void learn(const Report& of_all);

  bool is_settled() const { return state_ == State::settled; }
  /// tell(window, chunk, reports, mean seconds of the slowest rank), by ascending window, then chunk.
  template <typename Tell>
  void for_trials(Tell&& tell) const {
    for (int level = 0; level <= top_; ++level)
      for (int step = 0; step < num_chunk_steps_; ++step)
        if (const Trial& trial = trial_of(level, step); trial.reports > 0)
          tell(std::min(window_at(level, bounds_.share), bounds_.most_bytes),
               chunk_at(level, step, bounds_.share), static_cast<int>(trial.reports), trial.cost_s());
  }
  /// Reports until the window last changed.
  std::int64_t changed_after() const { return changed_at_; }

 private:
  static constexpr int settings_of_a_chunk = 1024;  // more than there are windows
  enum class State : std::uint8_t { first, climbing, settled };
  enum Figure { usual_s, mean_s, lost, highest_setting, lowest_setting_negated, first_level_negated };
  /// The last times of a window and a chunk. Their cost is the mean, of three and more without the worst third: on a busy machine those say
  /// nothing of the window.
  struct Trial {
    static constexpr std::size_t most = 6;
    std::array<double, most> times_s{};
    std::size_t reports = 0;
    double lost_sum = 0;
    void add(double time_s, double lost) {
      times_s[reports++ % most] = time_s;
      lost_sum += lost;
    }
    bool is_lossy() const;
    double cost_s() const;
    /// Whether there is enough to judge by, of short exchanges more.
    bool is_enough(bool is_clear) const;

    // Since the search ended: with all slow exchanges.
    double sum_s = 0;
    int means = 0;
    void add_mean(double time_s) {
      sum_s += time_s;
      ++means;
    }
    double mean_s() const { return sum_s / means; }
  };

  Bytes window_at(int level, double share) const;
  Bytes chunk_at(int level, int step, double share) const;
  int chunk_step_for(int level, Bytes chunks) const;
  int natural_chunk_step(int level) const;
  /// One number for both, to be compared among ranks.
  int setting() const { return chunk_step_ * settings_of_a_chunk + level_; }
  std::size_t index_of(int level, int step) const {
    return static_cast<std::size_t>(level) * static_cast<std::size_t>(num_chunk_steps_) +
           static_cast<std::size_t>(step);
  }
  const Trial& trial_of(int level, int step) const { return trials_[index_of(level, step)]; }
  bool is_open(int level) const { return level >= top_; }
  bool holds_all(int level) const;
  int level_for(double bytes) const;
  void end_round(double now_s);
  void end_start_up();
  void judge();
  struct Comparison {
    double ratio;  // of the times
    bool loses;    // packets, which the best does not
    bool saves;    // the other way round
  };
  void judge_window(const Comparison& tried);
  void judge_chunk(const Comparison& tried);
  void judge_both(const Comparison& tried);
  bool is_at_best() const { return level_ == best_ && chunk_step_ == best_chunk_step_; }
  bool has_larger_untried() const;
  void go_on_from_best();
  bool propose(int level);
  bool propose_chunk(int step);
  bool propose_both();
  void look_above_best();
  void settle_at(int level);
  void start_search();
  void watch(const Report& of_all);
  void move_to(int level, int chunk_step);
  void draw_conclusions(const Report& of_all);

  WindowBounds bounds_;
  int top_;
  int num_chunk_steps_ = 1;
  int level_ = 0;
  int chunk_step_ = 0;

  // start-up, within exchanges
  bool starts_up_;
  Bytes round_bytes_ = 0;
  double round_begin_s_ = -1;
  double round_delay_s_ = std::numeric_limits<double>::infinity();
  double least_delay_s_ = std::numeric_limits<double>::infinity();
  double best_rate_ = 0;

  // the running block, of this rank
  double started_s_ = 0;
  double block_sum_s_ = 0;
  double block_worst_s_ = 0;
  int block_exchanges_ = 0;
  bool is_changing_ = false;
  int block_highest_ = 0;
  int block_lowest_ = 0;

  // the search, equal on all ranks
  State state_ = State::first;
  std::vector<Trial> trials_;  // of every window all chunks
  int best_ = 0;
  int best_chunk_step_ = 0;
  int step_ = 2;
  int ceiling_ = 0;    // the lowest level above best_ that was worse, or one above the top
  int floor_ = -1;     // likewise below
  int too_large_ = 0;  // the lowest level that lost or was much slower, or one above the top
  bool grows_together_ = false;
  int chunk_ceiling_ = 0;  // of chunks with the best window, likewise
  int chunk_floor_ = -1;
  int strikes_ = 0;  // blocks in a row that were not as settled
  double settled_s_ = 0;
  bool may_go_down_ = true;
  std::int64_t reports_ = 0;
  std::int64_t changed_at_ = 0;
};

}  // namespace nuice::exchange
