// SPDX-License-Identifier: BSD-3-Clause
// Samples of repetitions, and the findings from them.
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

/// An estimate over the repetitions: the median, and the range of the middle half.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
  int repetitions = 0;
};

/// A key of the machine file, the value found for it, and how it was measured. The value is missing if it
/// could not be measured.
struct Finding {
  std::string section;
  std::string key;
  std::string unit;  ///< "s", "s/B", "B" or nothing.
  Estimate estimate = {};
  std::string remark = {};
};

/// An exchange that was not used in the fit.
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

/// Returns the sample of a repetition. A shorter series starts again from its beginning.
inline const Sample& sample(const Series& series, std::size_t rep) { return series[rep % series.size()]; }
inline double last(const Series& series, std::size_t rep) { return sample(series, rep).last_s; }
inline double first(const Series& series, std::size_t rep) { return sample(series, rep).first_s; }

/// Returns the value rounded to four digits in the unit of the machine file, because more digits mean
/// nothing. So machine_text() writes a short number.
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

/// The findings in the order in which they were made.
class Notebook {
 public:
  /// Notes a finding. Returns the rounded value, as it is written to the machine file.
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

/// Returns the median of value(repetition), and its spread.
inline Estimate estimate(int reps, const std::function<double(std::size_t)>& value) {
  std::vector<double> values;
  for (int rep = 0; rep < reps; ++rep) values.push_back(value(static_cast<std::size_t>(rep)));
  std::ranges::sort(values);
  const std::size_t quarter = values.size() / 4;
  return {kit::median(values), values[quarter], values[values.size() - 1 - quarter], reps};
}

/// Returns the lower quartile instead of the median. It suits times so short that the rest of the system
/// disturbs many samples, because disturbances only increase times.
inline Estimate undisturbed(int reps, const std::function<double(std::size_t)>& value) {
  Estimate result = estimate(reps, value);
  result.value = result.low;
  return result;
}

}  // namespace nuice::calibrate
