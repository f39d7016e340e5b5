// SPDX-License-Identifier: BSD-3-Clause
// Which of a few methods carries out an exchange, found from the exchanges themselves. Pure arithmetic: the run that tries them over
// MPI (learning_run.hpp) and the simulation in the tests use this very code.
//
//   exchange 1   by method 0, the one that was chosen beforehand; it pays for connections and pages, and is not timed
//   put off      where the method chosen beforehand finds its pace and others may make the network drop packets, which may cost a trial several
//                exchanges: it is looked at alone, in exchanges 3 and 7. Where it has become much faster, the network is not what
//                limits it, and the others are tried at once; else from exchange 128 on
//   a block      every method that is still in, one after the other: once in the first block, later twice and more, of which
//                the first is not timed, as it may pay for what the method before it lost
//   a report     of each method the mean of the block, the maximum over the ranks. It is waited for three exchanges later, when it
//                has come as a rule; so all ranks go on alike
//   afterwards   the cheapest is used. One that is clearly worse is out. The next block begins when there have been twice as many
//                exchanges, and no more than 256 later
//   in use       from a report to the next block it is timed too, as long as another is in. One that does not find its own pace costs
//                no less than what it takes then: it may lose packets, and do well for a few exchanges after one that loses none.
//                After a change the next block comes soon
//   in the end   one is left. Its time is still looked at in a block of its own; when it is much slower or faster in two of them
//                running (another job on the network), all are in again
//
// A method that finds its own pace (credit) is slow while it does: it stays in for the first blocks, and where it was chosen beforehand, is
// not left for less than a clear gain.
// Cost: two readings of the clock around calls of timed exchanges; else a comparison.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nuice::exchange {

class MethodControl {
 public:
  /// finds_pace: of each method, the one chosen beforehand first. At least one.
  explicit MethodControl(const std::vector<bool>& finds_pace);

  /// Before the first exchange, on all ranks: packets may be dropped, so that a trial may cost several exchanges.
  void put_off();

  /// Another exchange begins.
  void begin();
  /// Whether it cannot begin before learn(): the last block's report is due.
  bool needs_report() const { return is_reported_ && exchange_ >= block_end_ + report_lag; }
  /// Which one carries it out. Requires !needs_report().
  std::size_t method() const;
  bool is_timed() const { return is_timed_; }
  /// Of a timed exchange.
  void add(double elapsed_s);
  /// The exchange is over; whether a report is due now.
  bool finish();

  /// This rank's mean of every method, 0 for those that were not in the block. Combined over the ranks by the maximum.
  std::span<const double> report() const { return report_; }
  /// What all ranks reported, the same on all ranks. When needs_report(): sooner, and ranks would not change together.
  void learn(std::span<const double> of_all);

  // What is known. Equal on all ranks that have heard the same reports.
  std::size_t best() const { return best_; }
  /// The exchange since which it is.
  std::int64_t best_since() const { return best_since_; }
  bool is_settled() const { return num_in_ == 1; }
  struct Known {
    int blocks;     ///< In which it was timed.
    double mean_s;  ///< Of those, without the worst third; 0 without any.
    bool is_in;
  };
  Known known(std::size_t method) const;

  static constexpr std::int64_t report_lag = 3;

 private:
  struct Method {
    static constexpr std::size_t most = 6;
    bool finds_pace;
    bool is_in = true;
    std::size_t blocks = 0;
    std::array<double, most> times_s{};
    // of the running block, on this rank
    double sum_s = 0;
    double worst_s = 0;
    int count = 0;
    double used_s = 0;  // what it took when it was last in use, unless it finds its pace; 0: never was

    void add(double mean_s) { times_s[blocks++ % most] = mean_s; }
    double cost_s() const;
    double last_s() const { return blocks == 0 ? 0 : times_s[(blocks - 1) % most]; }
  };

  void place_block();
  void look_again(double time_s);
  void drop_losers();
  void watch();
  void start_again();
  std::int64_t block_length() const { return static_cast<std::int64_t>(turns_.size()) * runs_; }
  bool is_in_block() const { return exchange_ >= block_begin_ && exchange_ <= block_end_; }

  std::vector<Method> methods_;
  std::vector<double> report_;
  std::vector<std::size_t> turns_;  // methods of the block, in its order
  std::int64_t exchange_ = 0;
  std::int64_t block_begin_ = 2;
  std::int64_t block_end_ = 0;
  int runs_ = 1;
  bool is_timed_ = false;
  bool is_reported_ = false;  // the block is over, its report not heard
  bool is_put_off_ = false;   // blocks are of method 0 alone
  bool may_drop_ = false;     // a trial may cost several exchanges
  double first_look_s_ = 0;

  std::size_t best_ = 0;
  std::int64_t best_since_ = 1;
  std::size_t num_in_;
  int blocks_ = 0;        // that were reported
  double settled_s_ = 0;  // what the best took when it was chosen
  int strikes_ = 0;
};

}  // namespace nuice::exchange
