// SPDX-License-Identifier: BSD-3-Clause
// What is known of the arms of a contest, and the test that decides between two of them. Equal on all ranks, as it sees
// only what all ranks have reported.
//
//   outliers   a report is the mean of an arm's exchanges; of more than two each rank leaves out the longest
//   test       on logarithms, as noise is proportional to times. d: the mean logarithm of a challenger less that of the arm
//              in use; s: the deviation of d. The challenger is adopted where d + z s < 0 and d < -0.05, and dropped where
//              d - z s > -0.05: even a lucky one would gain less than 5 %
//   error      z = 2.5: 0.6 % a look, at most 5 % for a pair in 8 looks (union bound, normal logarithms). After 8 reports
//              z is 1, and a challenger that does not win is dropped
//   deviation  that of an arm's reports and one more of 0.25: of 507 series on test networks (docs/explanation/results)
//              the noisiest quarter is above
//   weight     reports of exchanges that last less than 5 ms together count as that part of one, as a time slice is as
//              long; less than one decides nothing. Both arms count by the slower one's time: no exchange is too fast
//   in use     an arm in use is judged by its exchanges since then: it may have done well by what another left behind. So
//              nothing is dropped when an arm is adopted, but a round later
#pragma once

#include <cstddef>
#include <vector>

namespace nuice::exchange {

/// About that of Linux: shorter reports say little where ranks wait for cores.
inline constexpr double time_slice_s = 5e-3;

class Standings {
 public:
  /// The first arm is in use.
  explicit Standings(std::size_t num_arms) : arms_(num_arms) {}

  std::size_t size() const { return arms_.size(); }
  std::size_t best() const { return best_; }
  bool is_in(std::size_t arm) const { return arms_[arm].is_in; }
  /// Whether no other arm is left.
  bool is_settled() const;
  int num_reports(std::size_t arm) const { return arms_[arm].num_reports; }
  /// Seconds of an exchange, the geometric mean of its reports; 0 without any.
  double mean_s(std::size_t arm) const;

  /// A report of this number of exchanges.
  void add(std::size_t arm, double report_s, int exchanges);
  /// Adopts or drops. Whether another arm is in use now.
  bool judge();
  /// Whether another arm seems to be better, and more reports have to tell.
  bool is_contested() const { return is_contested_; }
  /// Whether the last report of the arm in use is off what was settled on. Requires is_settled().
  bool is_off() const;
  /// What an exchange by this arm is expected to cost more than one by the best, in exchanges by the best.
  double loss(std::size_t arm) const;
  /// All are in again, and nothing is known but the last report of the arm in use.
  void restart();

 private:
  struct Arm {
    bool is_in = true;
    bool was_used = false;
    int num_reports = 0;
    double last_log_s = 0;
    int last_exchanges = 0;
    // Of the reports that count: their number, their exchanges, and over exchanges the sums of logarithms.
    double reports = 0, exchanges = 0, lengths_squared = 0, sum = 0, squares = 0;

    double log_s() const { return sum / exchanges; }
    double variance() const;
    double weight_at(double log_s) const;
    double weight() const { return exchanges > 0 ? weight_at(log_s()) : 0; }
  };
  struct Difference {
    double log_s;
    double deviation;
    bool is_heavy;  ///< Enough to decide anything.
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
