// SPDX-License-Identifier: BSD-3-Clause
// Reports the findings as comments of the machine file, as lines for people and as JSON lines.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "kit/json.hpp"
#include "kit/units.hpp"
#include "nuice_calibrate/fit.hpp"

namespace nuice::calibrate {

/// The place of the measurement.
struct Place {
  Rank ranks = 0;
  int hosts = 0;
  bool crowded = false;  ///< Whether a host has more ranks than cores.
  std::string mpi_library;
};

using kit::Json;
using kit::quantity;

inline std::string spread(const Finding& finding) {
  const Estimate& e = finding.estimate;
  if (e.repetitions == 0) return finding.remark;
  // A rate is the inverse of the time per byte.
  const bool is_rate = finding.unit == "s/B";
  const std::string text =
      e.repetitions == 1
          ? fmt::format("between {} and {}", quantity(e.low, finding.unit), quantity(e.high, finding.unit))
          : fmt::format("{} to {} in the middle half of {}", quantity(is_rate ? e.high : e.low, finding.unit),
                        quantity(is_rate ? e.low : e.high, finding.unit), e.repetitions);
  return finding.remark.empty() ? text : text + "; " + finding.remark;
}

inline std::string ratio_text(const Check& check) {
  return fmt::format("{}: predicted {}, measured {} ({:.2f} times)", check.name,
                     quantity(check.predicted_s, "s"), quantity(check.measured_s.value, "s"),
                     check.measured_s.value / check.predicted_s);
}

inline Json place_json(const Place& place) {
  return {{"ranks", place.ranks},
          {"hosts", place.hosts},
          {"crowded", place.crowded},
          {"mpi_library", place.mpi_library}};
}

/// Returns notes for the machine file. At the top they say where the machine was measured, and how well it
/// predicts exchanges outside the fit. Then they give the spread and repetitions of every number, and the
/// reason for every missing number.
inline std::vector<MachineNote> notes(const Calibration& calibration, const Place& place) {
  std::vector<MachineNote> all;
  const auto say = [&](std::string text) { all.push_back({{}, {}, std::move(text)}); };
  say(fmt::format("Measured by nuice-calibrate with {} ranks on {} host{}, {}.", place.ranks, place.hosts,
                  place.hosts == 1 ? "" : "s", place.mpi_library));
  if (place.crowded) say("More ranks than cores: the times include waiting for a core.");
  say("Behind every number: the interquartile range of the repetitions. Not measured: hop, active_message,");
  say("packets, memory limits. Keys that are missing here have the defaults of docs/reference/machines.md.");
  if (const double off = calibration.machine.worst_check; off > largest_trusted_error)
    say(fmt::format("A check is off by a factor of {:.2f}: auto uses this file only if it is named, ", off) +
        "and then only for the order of messages.");
  for (const Check& check : calibration.checks) say("Check, not part of the fit: " + ratio_text(check));
  for (const Finding& finding : calibration.findings)
    all.push_back({finding.section, finding.key, spread(finding)});
  return all;
}

/// Returns one object per finding, then one per check.
inline std::string json_lines(const Calibration& calibration, const Place& place) {
  std::string lines;
  const auto add = [&](Json line) {
    line.update(place_json(place));
    lines += kit::line(line);
  };
  for (const Finding& finding : calibration.findings) {
    const Estimate& e = finding.estimate;
    const bool is_measured = e.repetitions > 0;
    add({{"section", finding.section},
         {"key", finding.key},
         {"unit", finding.unit},
         {"value", is_measured ? Json(e.value) : Json()},
         {"low", is_measured ? Json(e.low) : Json()},
         {"high", is_measured ? Json(e.high) : Json()},
         {"repetitions", e.repetitions},
         {"remark", finding.remark}});
  }
  for (const Check& check : calibration.checks)
    add({{"check", check.name},
         {"predicted_seconds", check.predicted_s},
         {"measured_seconds", check.measured_s.value},
         {"measured_over_predicted", check.measured_s.value / check.predicted_s},
         {"repetitions", check.measured_s.repetitions}});
  return lines;
}

}  // namespace nuice::calibrate
