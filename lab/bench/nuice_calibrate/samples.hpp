// SPDX-License-Identifier: BSD-3-Clause
// Repetitions, and what is noted of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "nuice_calibrate/fit.hpp"

namespace nuice::calibrate {

using Series = std::vector<Sample>;

/// Of a repetition; where a series is shorter, it begins again.
inline const Sample& sample(const Series& series, std::size_t rep) { return series[rep % series.size()]; }
inline double last(const Series& series, std::size_t rep) { return sample(series, rep).last_s; }
inline double first(const Series& series, std::size_t rep) { return sample(series, rep).first_s; }

double median_last(const Series& series);

/// The median of value(repetition), and its spread.
Estimate estimate(int reps, const std::function<double(std::size_t)>& value);

/// The lower quartile instead, for times that are so short that the rest of the system disturbs many of them, and only ever
/// makes them longer.
Estimate undisturbed(int reps, const std::function<double(std::size_t)>& value);

/// What has been found, in the order of finding.
class Notebook {
 public:
  /// Returns the value as it goes into the machine: rounded.
  double found(const std::string& section, const std::string& key, const std::string& unit,
               const Estimate& what, const std::string& remark = {});
  void not_found(const std::string& section, const std::string& key, const std::string& why);
  std::vector<Finding> take() { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

}  // namespace nuice::calibrate
