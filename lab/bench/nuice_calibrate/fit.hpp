// SPDX-License-Identifier: BSD-3-Clause
// From times to a machine.
#pragma once

#include <string>
#include <vector>

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

struct Settings {
  int reps = 15;
  std::string topology;  ///< Of the machine; empty: a crossbar of all ranks.
};

/// Collective where the lab is. Requires two ranks.
Calibration calibrate(Lab& lab, const Settings& settings);

}  // namespace nuice::calibrate
