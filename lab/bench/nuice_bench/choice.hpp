// SPDX-License-Identifier: BSD-3-Clause
// What the scheduler "auto" has chosen and predicted, to be printed beside what is measured.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nuice/mpi/plan.hpp"

namespace nuice::bench {

struct Choice {
  std::string candidate;  // "rs_n:credit"
  double predicted_s = 0;
  std::string machine;
  std::string sentence;
  std::string warning;
  std::string advice;  // as JSON
  /// Every candidate that the model has an opinion on: name, exchange time.
  std::vector<std::pair<std::string, double>> predictions;

  /// Requires a plan of the scheduler "auto".
  static Choice of(const mpi::Plan& plan);
  std::optional<double> prediction(const std::string& name) const;
};

}  // namespace nuice::bench
