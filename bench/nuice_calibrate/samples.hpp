// SPDX-License-Identifier: BSD-3-Clause
// Repetitions, and what is noted of them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "kit/statistics.hpp"
#include "nuice/plan/machine.hpp"
#include "nuice_calibrate/lab.hpp"

namespace nuice::calibrate {

/// Of a number over the repetitions: the middle one, and where the middle half of them lies.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
  int repetitions = 0;
};

/// A key of the machine file, what was found for it, and how. Nothing for what could not be measured.
struct Finding {
  std::string section;
  std::string key;
  std::string unit;  ///< "s", "s/B", "B" or nothing.
  Estimate estimate = {};
  std::string remark = {};
};

/// An exchange that took no part in the fit.
struct Check {
  std::string name;
  double predicted_s = 0;
  Estimate measured_s = {};
};

struct Calibration {
  Machine machine;
  std::vector<Finding> findings;
  std::vector<Check> checks;
};

using Series = std::vector<Sample>;

/// Of a repetition; where a series is shorter, it begins again.
inline const Sample& sample(const Series& series, std::size_t rep) { return series[rep % series.size()]; }
inline double last(const Series& series, std::size_t rep) { return sample(series, rep).last_s; }
inline double first(const Series& series, std::size_t rep) { return sample(series, rep).first_s; }

/// The value with four digits in the unit that a machine file would have it in, as more mean nothing: what
/// machine_text() writes of it is as short.
inline double rounded(double value, std::string_view unit) {
  if (!(value > 0) || !std::isfinite(value) || unit == "B") return value;
  const auto four_digits = [](double x) { return std::strtod(fmt::format("{:.3e}", x).c_str(), nullptr); };
  if (unit == "s") {
    for (const double factor : {1.0, 1e-3, 1e-6, 1e-9})
      if (value >= factor || factor == 1e-9) return four_digits(value / factor) * factor;
  }
  if (unit == "s/B") {
    for (const double factor : {1e9, 1e6, 1e3})
      if (1 / value >= factor || factor == 1e3) return 1 / (four_digits(1 / value / factor) * factor);
  }
  return four_digits(value);
}

/// What has been found, in the order of finding.
class Notebook {
 public:
  /// Returns the value as it goes into the machine: rounded.
  double found(const std::string& section, const std::string& key, const std::string& unit,
               const Estimate& what, const std::string& remark = {}) {
    findings_.push_back({section, key, unit, what, remark});
    Estimate& kept = findings_.back().estimate;
    kept.value = rounded(kept.value, unit);
    return kept.value;
  }

  void not_found(const std::string& section, const std::string& key, const std::string& why) {
    findings_.push_back({section, key, {}, {}, why});
  }

  std::vector<Finding> take() { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

inline double median_last(const Series& series) {
  std::vector<double> times;
  for (const Sample& s : series) times.push_back(s.last_s);
  return kit::median(times);
}

/// The median of value(repetition), and its spread.
inline Estimate estimate(int reps, const std::function<double(std::size_t)>& value) {
  std::vector<double> values;
  for (int rep = 0; rep < reps; ++rep) values.push_back(value(static_cast<std::size_t>(rep)));
  std::ranges::sort(values);
  const std::size_t quarter = values.size() / 4;
  return {kit::median(values), values[quarter], values[values.size() - 1 - quarter], reps};
}

/// The lower quartile instead, for times that are so short that the rest of the system disturbs many of them, and only ever
/// makes them longer.
inline Estimate undisturbed(int reps, const std::function<double(std::size_t)>& value) {
  Estimate result = estimate(reps, value);
  result.value = result.low;
  return result;
}

}  // namespace nuice::calibrate
