// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_calibrate/samples.hpp"

#include <algorithm>

#include "nuice_calibrate/text.hpp"

namespace nuice::calibrate {

double median_last(const Series& series) {
  std::vector<double> times;
  for (const Sample& s : series) times.push_back(s.last_s);
  std::ranges::sort(times);
  return times[times.size() / 2];
}

Estimate estimate(int reps, const std::function<double(std::size_t)>& value) {
  std::vector<double> values;
  for (int rep = 0; rep < reps; ++rep) values.push_back(value(static_cast<std::size_t>(rep)));
  std::ranges::sort(values);
  const std::size_t count = values.size();
  return {.value = values[count / 2],
          .low = values[count / 4],
          .high = values[count - 1 - count / 4],
          .repetitions = reps};
}

Estimate undisturbed(int reps, const std::function<double(std::size_t)>& value) {
  Estimate result = estimate(reps, value);
  result.value = result.low;
  return result;
}

double Notebook::found(const std::string& section, const std::string& key, const std::string& unit,
                       const Estimate& what, const std::string& remark) {
  findings_.push_back({section, key, unit, what, remark});
  Estimate& kept = findings_.back().estimate;
  kept.value = rounded(kept.value, unit);
  return kept.value;
}

void Notebook::not_found(const std::string& section, const std::string& key, const std::string& why) {
  findings_.push_back({section, key, {}, {}, why});
}

}  // namespace nuice::calibrate
