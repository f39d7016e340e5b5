// SPDX-License-Identifier: BSD-3-Clause
// What is known of the arms of a contest, and the test that compares two of them. It is equal on all ranks,
// because it uses only what all ranks have reported.
//
//   outliers   A report is the mean of an arm's exchanges. Of more than two, each rank omits the longest.
//   test       Logarithms are compared, because noise is proportional to times. d is the mean logarithm of a
//              challenger minus the mean of the arm in use; s is the standard deviation of d. The challenger
//              is adopted if d + z s < 0 and d < -0.05. It is dropped if d - z s > -0.05, because even with
//              luck it would gain less than 5 %.
//   error      z = 2.5 means 0.6 % per comparison, and at most 5 % per pair in 8 comparisons (union bound,
//              normal logarithms). After 8 reports z is 1, and a challenger that is not adopted is dropped.
//              Simulated (docs/explanation/contests.md), z = 0 ends with a worse arm in 19 % of the runs in
//              which nothing is better and noise is 30 %, z = 1 in 6 %; z = 2.5 misses an arm that becomes
//              1.3 times as fast in 99 %, z = 1 in 2 %. Differences below 5 % are ignored: with 8 reports of
//              both arms s is usually 0.125, so they are mostly noise.
//   deviation  The variance of an arm's reports, plus 0.25^2 divided by their number. Of 507 series on test
//              networks (docs/explanation/results), the noisiest quarter has a deviation above 0.25.
//   weight     A report whose exchanges together take less than a time slice (5 ms) counts as that fraction
//              of a report. A sum below 1 decides nothing. Both arms are weighed with the slower arm's
//              time, so that no arm is ignored because it is fast.
//   in use     An arm in use is judged only by its exchanges since it was adopted, because its earlier
//              exchanges may have gained from another arm's effects on the network. So no arm is dropped
//              in the round in which another arm is adopted.
#pragma once

#include <cstddef>
#include <vector>

namespace nuice::exchange {

/// About the time slice of Linux (3 to 4 ms), and some more. Reports of less time say little if ranks wait
/// for cores.
inline constexpr double time_slice_s = 5e-3;

class Standings {
 public:
  /// Begins with the first arm in use.
  explicit Standings(std::size_t num_arms) : arms_(num_arms) {}

  std::size_t size() const { return arms_.size(); }
  std::size_t best() const { return best_; }
  bool is_in(std::size_t arm) const { return arms_[arm].is_in; }
  /// Whether only the arm in use is left.
  bool is_settled() const;
  int num_reports(std::size_t arm) const { return arms_[arm].num_reports; }
  /// The geometric mean of an arm's reports, in seconds per exchange; 0 without reports.
  double mean_s(std::size_t arm) const;

  /// Adds a report, which is the mean time of this number of exchanges.
  void add(std::size_t arm, double report_s, int exchanges);
  /// Adopts a better arm or drops worse arms. Returns whether another arm is in use now.
  bool judge();
  /// Whether another arm seems to be better, but a decision needs more reports.
  bool is_contested() const { return is_contested_; }
  /// Whether the last report of the arm in use differs from the time that it had when it was settled on.
  /// Requires is_settled().
  bool is_off() const;
  /// The additional time that an exchange is expected to take with this arm, as a fraction of the best arm's
  /// time.
  double loss(std::size_t arm) const;
  /// Lets all arms take part again. Forgets all reports except the last report of the arm in use.
  void restart();

 private:
  struct Arm {
    bool is_in = true;
    bool was_used = false;
    int num_reports = 0;
    double last_log_s = 0;
    int last_exchanges = 0;
    // Sums over the reports that count: their number, their exchanges, the squares of these numbers of
    // exchanges, and the logarithms and their squares multiplied by the exchanges.
    double reports = 0, exchanges = 0, lengths_squared = 0, sum = 0, squares = 0;

    double log_s() const { return sum / exchanges; }
    double variance() const;
    double weight_at(double log_s) const;
    double weight() const { return exchanges > 0 ? weight_at(log_s()) : 0; }
  };
  struct Difference {
    double log_s;
    double deviation;
    bool is_heavy;  ///< Whether the reports have enough weight to decide anything.
  };
  Difference to_best(std::size_t arm) const;
  bool loses(std::size_t arm) const;

  std::vector<Arm> arms_;
  std::size_t best_ = 0;
  bool is_contested_ = false;
  double settled_log_s_ = 0;
  double settled_deviation_ = 0;
};

}  // namespace nuice::exchange
