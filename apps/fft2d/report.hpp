// SPDX-License-Identifier: BSD-3-Clause
// What nuice-fft2d prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fft2d/array.hpp"

namespace nuice::fft2d {

struct MethodReport {
  std::string name;
  bool planned = false;
  std::string refused;  // why it was not run; the rest is then without meaning
  std::optional<PhaseId> num_phases;
  std::optional<double> exchange_s;   // medians
  std::optional<double> transform_s;  // forward
  std::optional<double> error;        // greatest difference to FFTW's 2-D plan / greatest value
  double round_trip_error = 0;        // greatest difference after forward and inverse
};

struct Report {
  Shape shape{};
  int num_ranks = 0;
  Bytes block_bytes = 0;  // largest message
  std::vector<MethodReport> methods;
};

/// Median exchange time of the best planned method over that of the best of MPI's; nothing without times.
std::optional<double> exchange_ratio(const Report& report);

std::string to_text(const Report& report);
std::string to_json(const Report& report);

}  // namespace nuice::fft2d
