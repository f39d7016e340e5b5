// SPDX-License-Identifier: BSD-3-Clause
// What was found, as comments of the machine file, as lines for people and as JSON lines.
#pragma once

#include <string>
#include <vector>

#include "nuice_calibrate/fit.hpp"

namespace nuice::calibrate {

/// Where it was measured.
struct Place {
  Rank ranks = 0;
  int hosts = 0;
  bool crowded = false;  ///< A host has more ranks than cores.
  std::string mpi_library;
};

/// Spread and repetitions of every number; what was not measured, and why; at the top where it was measured and how well
/// the machine predicts what had no part in the fit.
std::vector<MachineNote> notes(const Calibration& calibration, const Place& place);

/// One object per finding, then one per check.
std::string json_lines(const Calibration& calibration, const Place& place);

}  // namespace nuice::calibrate
