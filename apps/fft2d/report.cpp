// SPDX-License-Identifier: BSD-3-Clause
#include "fft2d/report.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace nuice::fft2d {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::string ms(std::optional<double> seconds) {
  return seconds ? fmt::format("{:.3f}", 1e3 * *seconds) : "-";
}

}  // namespace

std::optional<double> exchange_ratio(const Report& report) {
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

std::string to_text(const Report& report) {
  std::string text = fmt::format(
      "{} x {} complex numbers, {} ranks, messages of up to {} bytes\n\n{:16} {:>7} {:>13} "
      "{:>13} {:>13} {:>11}\n",
      report.shape.rows, report.shape.columns, report.num_ranks, report.block_bytes, "exchange", "phases",
      "exchange ms", "transform ms", "error", "round trip");
  std::string notes;
  for (const MethodReport& method : report.methods) {
    if (!method.refused.empty()) {
      notes += fmt::format("{} was not run: {}\n", method.name, method.refused);
      continue;
    }
    text += fmt::format("{:16} {:>7} {:>13} {:>13} {:>13} {:>11.1e}\n", method.name,
                        method.num_phases ? std::to_string(*method.num_phases) : "-", ms(method.exchange_s),
                        ms(method.transform_s), method.error ? fmt::format("{:.1e}", *method.error) : "-",
                        method.round_trip_error);
  }
  if (const auto ratio = exchange_ratio(report))
    notes += fmt::format("the best planned exchange takes {:.3f} x the best of MPI's\n", *ratio);
  return text + notes;
}

std::string to_json(const Report& report) {
  Json methods = Json::array();
  for (const MethodReport& method : report.methods)
    methods.push_back(
        {{"name", method.name},
         {"planned", method.planned},
         {"refused", method.refused.empty() ? Json() : Json(method.refused)},
         {"phases", or_null(method.num_phases)},
         {"exchange_seconds_median", or_null(method.exchange_s)},
         {"transform_seconds_median", or_null(method.transform_s)},
         {"error", or_null(method.error)},
         {"round_trip_error", method.refused.empty() ? Json(method.round_trip_error) : Json()}});
  const Json json = {
      {"rows", report.shape.rows}, {"columns", report.shape.columns},
      {"ranks", report.num_ranks}, {"largest_message_bytes", report.block_bytes},
      {"methods", methods},        {"exchange_ratio_to_best_mpi", or_null(exchange_ratio(report))}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nuice::fft2d
