// SPDX-License-Identifier: BSD-3-Clause
// What nuice-fft2d prints.
#pragma once

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fft2d/array.hpp"
#include "kit/json.hpp"
#include "kit/table.hpp"
#include "kit/units.hpp"

namespace nuice::fft2d {

struct MethodReport {
  std::string name;
  bool planned = false;
  std::string refused;  // why the method was not run; the other members are then meaningless
  std::optional<PhaseId> num_phases;
  std::optional<double> exchange_s;   // medians
  std::optional<double> transform_s;  // forward
  std::optional<double> error;        // largest difference to FFTW's 2-D plan / largest value
  double round_trip_error = 0;        // largest difference after forward and inverse
};

struct Report {
  Shape shape{};
  int num_ranks = 0;
  Bytes block_bytes = 0;  // largest message
  std::vector<MethodReport> methods;
};

using kit::Json;
using kit::or_null;

/// Returns the median exchange time of the best planned method, divided by that of MPI's best method. Returns
/// nothing without times.
inline std::optional<double> exchange_ratio(const Report& report) {
  constexpr double never = std::numeric_limits<double>::infinity();
  double planned = never;
  double plain = never;
  for (const MethodReport& method : report.methods) {
    double& best = method.planned ? planned : plain;
    best = std::min(best, method.exchange_s.value_or(never));
  }
  if (report.num_ranks == 1 || planned == never || plain == never) return std::nullopt;
  return planned / plain;
}

inline std::string to_text(const Report& report) {
  kit::Table table("exchange|phases|exchange ms|transform ms|error|round trip");
  std::string notes;
  for (const MethodReport& method : report.methods)
    if (method.refused.empty())
      table.row("{}|{}|{}|{}|{}|{:.1e}", method.name,
                method.num_phases ? std::to_string(*method.num_phases) : "-",
                kit::decimals(method.exchange_s, 3, 1e3), kit::decimals(method.transform_s, 3, 1e3),
                method.error ? fmt::format("{:.1e}", *method.error) : "-", method.round_trip_error);
    else
      notes += fmt::format("{} was not run: {}\n", method.name, method.refused);
  if (const auto ratio = exchange_ratio(report))
    notes += fmt::format("the best planned exchange takes {:.3f} x the best of MPI's\n", *ratio);
  return fmt::format("{} x {} complex numbers, {} ranks, messages of up to {} bytes\n\n", report.shape.rows,
                     report.shape.columns, report.num_ranks, report.block_bytes) +
         table.text() + notes;
}

inline std::string to_json(const Report& report) {
  const auto of_method = [](const MethodReport& method) -> Json {
    return {{"name", method.name},
            {"planned", method.planned},
            {"refused", or_null(method.refused)},
            {"phases", or_null(method.num_phases)},
            {"exchange_seconds_median", or_null(method.exchange_s)},
            {"transform_seconds_median", or_null(method.transform_s)},
            {"error", or_null(method.error)},
            {"round_trip_error", method.refused.empty() ? Json(method.round_trip_error) : Json()}};
  };
  return kit::line({{"rows", report.shape.rows},
                    {"columns", report.shape.columns},
                    {"ranks", report.num_ranks},
                    {"largest_message_bytes", report.block_bytes},
                    {"methods", kit::array(report.methods, of_method)},
                    {"exchange_ratio_to_best_mpi", or_null(exchange_ratio(report))}});
}

}  // namespace nuice::fft2d
