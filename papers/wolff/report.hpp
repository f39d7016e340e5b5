// SPDX-License-Identifier: BSD-3-Clause
// What nuice-wolff prints.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "kit/json.hpp"
#include "kit/table.hpp"
#include "wolff/options.hpp"
#include "wolff/statistics.hpp"

namespace nuice::wolff {

/// A test against a known value.
struct Finding {
  std::string what;
  double value = 0;
  double error = 0;
  double expected = 0;
  double pull = 0;  ///< The difference in standard errors.
  bool right() const { return std::abs(pull) <= 4; }
};

struct Physics {
  std::int64_t samples = 0;
  std::int64_t clusters_per_sample = 0;
  Estimate energy;         ///< Per site.
  Estimate magnetisation;  ///< |M| per site.
  Estimate cluster;        ///< Mean size.
};

/// The result of one method at one width.
struct Result {
  std::string scheme;
  std::string sync;  ///< Empty if the scheme has no choice.
  std::int64_t width = 0;
  std::int64_t delta = 0;
  std::int64_t grain = 0;
  std::string transport;
  bool same = true;          ///< Spins and cluster sizes equal the sequential program's.
  double seconds = 0;        ///< Per cluster: the median over the repetitions of the maximum over the ranks.
  double alone_seconds = 0;  ///< Seconds per cluster of the same code on one rank; 0 if not measured.
  double cycles = 0;         ///< For a cluster.
  double checks = 0;
  double items_left = 0;  ///< Items per cycle to the previous rank, the maximum over the ranks (002 fig. 35).
  double items_right = 0;  ///< Items per cycle to the next rank.
  double messages = 0;     ///< Per cycle, in both directions.
};

struct Report {
  std::int64_t size = 0;
  double beta = 0;
  int num_ranks = 1;
  std::int64_t clusters = 0;
  double mean_cluster = 0;        ///< The mean size of the timed clusters.
  double sequential_seconds = 0;  ///< For a cluster.
  std::optional<Physics> physics;
  std::vector<Finding> findings;
  std::vector<Result> results;
  /// The seconds that an item costs sender and receiver together, by scheme; empty on one rank.
  std::vector<std::pair<std::string, double>> item_costs;

  /// Returns T/S N^2 of 002 s.6 in milliseconds.
  double scale_ms(double seconds_per_cluster) const {
    return 1e3 * seconds_per_cluster / mean_cluster * static_cast<double>(size) * static_cast<double>(size);
  }

  bool right() const {
    return std::ranges::all_of(findings, &Finding::right) && std::ranges::all_of(results, &Result::same);
  }
};

using kit::Json;

inline double flips_per_us(const Report& report, double seconds) {
  return report.mean_cluster / seconds * 1e-6;
}

inline std::string physics_text(const Report& report) {
  if (!report.physics) return "";
  const Physics& physics = *report.physics;
  kit::Table table("mean of|value|error|autocorrelation time");
  const auto row = [&](const char* what, const Estimate& e) {
    table.row("{}|{:.8g}|{:.2g}|{:.2f}", what, e.mean, e.error, e.autocorrelation);
  };
  row("energy / site", physics.energy);
  row("|magnetisation| / site", physics.magnetisation);
  row("mean cluster", physics.cluster);
  return fmt::format("{} samples, {} clusters from one to the next\n{}\n", physics.samples,
                     physics.clusters_per_sample, table.text());
}

inline std::string findings_text(const Report& report) {
  if (report.findings.empty()) return "";
  kit::Table table("found|value|expected|standard errors");
  for (const Finding& finding : report.findings)
    table.row("{}|{:.8g}|{:.8g}|{:+.2f}|{}", finding.what, finding.value, finding.expected, finding.pull,
              finding.right() ? "" : "WRONG");
  return table.text() + "\n";
}

/// Returns the width from which P ranks are faster than one rank. Let t be the sequential time of a flip and
/// c the time of an item. P ranks flip a site in (t + 2 p c / w) / P, because 2 p / w of its bonds lead to
/// another rank. Below 1: every width pays.
inline double width_that_pays(const Report& report, double item_seconds) {
  const double flip = report.sequential_seconds / report.mean_cluster;
  return -2 * std::expm1(-2 * report.beta) * item_seconds / (flip * (report.num_ranks - 1));
}

inline std::string model_text(const Report& report) {
  if (report.item_costs.empty()) return "";
  const double flip = report.sequential_seconds / report.mean_cluster;
  std::string text = fmt::format(
      "\na flip takes {:.1f} ns; by the cost of an item ({:.2f} items a flip at width 1), {} ranks beat "
      "one\n",
      1e9 * flip, -2 * std::expm1(-2 * report.beta), report.num_ranks);
  for (const auto& [scheme, seconds] : report.item_costs) {
    const double width = width_that_pays(report, seconds);
    text += fmt::format("  {:10} {:>7.1f} ns an item: {}\n", scheme, 1e9 * seconds,
                        width <= 1 ? "at any width" : fmt::format("from width {:.0f}", std::ceil(width)));
  }
  return text;
}

inline std::string results_text(const Report& report) {
  if (report.results.empty()) return "";
  const std::string text =
      fmt::format("{} clusters, mean {:.1f} sites; sequential: {:.3f} ms a sweep, {:.1f} M flips/s\n\n",
                  report.clusters, report.mean_cluster, report.scale_ms(report.sequential_seconds),
                  flips_per_us(report, report.sequential_seconds));
  kit::Table table(
      "scheme|sync|width|delta|grain|T/S N^2 ms|Mflips/s|speedup|effic.|own|cycles|left|right|messages", 2);
  for (const Result& result : report.results) {
    const double speedup = report.sequential_seconds / result.seconds;
    table.row("{}|{}|{}|{}|{}|{:.3f}|{:.1f}|{:.2f}|{:.2f}|{}|{:.1f}|{:.2f}|{:.2f}|{:.2f}|{}", result.scheme,
              result.sync, result.width, result.delta, result.grain, report.scale_ms(result.seconds),
              flips_per_us(report, result.seconds), speedup, speedup / report.num_ranks,
              result.alone_seconds > 0 ? fmt::format("{:.2f}", result.alone_seconds / result.seconds) : "-",
              result.cycles, result.items_left, result.items_right, result.messages,
              result.same ? "" : "OTHER SPINS");
  }
  return text + table.text() +
         "speedup, effic.: over the sequential program; own: over one rank of the same code; cycles: of a "
         "cluster;\n"
         "left, right: items to the rank before and after in a cycle; messages: in a cycle\n";
}

inline Json to_json(const Estimate& e) {
  return {{"mean", e.mean}, {"error", e.error}, {"autocorrelation_time", e.autocorrelation}};
}

inline Json to_json(const Report& report, const Result& r) {
  const double speedup = report.sequential_seconds / r.seconds;
  return {{"scheme", r.scheme},
          {"sync", kit::or_null(r.sync)},
          {"width", r.width},
          {"delta", r.delta},
          {"grain", r.grain},
          {"transport", r.transport},
          {"same_as_sequential", r.same},
          {"seconds_per_cluster", r.seconds},
          {"scale_ms", report.scale_ms(r.seconds)},
          {"flips_per_second", report.mean_cluster / r.seconds},
          {"speedup", speedup},
          {"efficiency", speedup / report.num_ranks},
          {"speedup_over_one_rank", r.alone_seconds > 0 ? Json(r.alone_seconds / r.seconds) : Json()},
          {"cycles_per_cluster", r.cycles},
          {"checks_per_cluster", r.checks},
          {"items_left_per_cycle", r.items_left},
          {"items_right_per_cycle", r.items_right},
          {"messages_per_cycle", r.messages}};
}

inline std::string to_text(const Report& report) {
  return fmt::format("{0} x {0} Ising lattice, beta {1:.10g}, {2} ranks\n\n", report.size, report.beta,
                     report.num_ranks) +
         physics_text(report) + findings_text(report) + results_text(report) + model_text(report);
}

inline std::string to_json(const Report& report) {
  Json physics;
  if (report.physics)
    physics = {{"samples", report.physics->samples},
               {"clusters_per_sample", report.physics->clusters_per_sample},
               {"energy_per_site", to_json(report.physics->energy)},
               {"magnetisation_per_site", to_json(report.physics->magnetisation)},
               {"cluster", to_json(report.physics->cluster)}};
  const auto of_finding = [](const Finding& f) -> Json {
    return {
        {"what", f.what}, {"value", f.value}, {"error", f.error}, {"expected", f.expected}, {"pull", f.pull}};
  };
  const auto of_cost = [&](const auto& cost) -> Json {
    return {{"scheme", cost.first},
            {"item_seconds", cost.second},
            {"pays_from_width", width_that_pays(report, cost.second)}};
  };
  const auto of_result = [&](const Result& result) { return to_json(report, result); };
  return kit::line({{"program", "nuice-wolff"},
                    {"size", report.size},
                    {"beta", report.beta},
                    {"ranks", report.num_ranks},
                    {"physics", physics},
                    {"findings", kit::array(report.findings, of_finding)},
                    {"clusters", report.clusters},
                    {"mean_cluster", report.mean_cluster},
                    {"sequential",
                     {{"seconds_per_cluster", report.sequential_seconds},
                      {"scale_ms", report.scale_ms(report.sequential_seconds)},
                      {"flips_per_second", report.mean_cluster / report.sequential_seconds}}},
                    {"results", kit::array(report.results, of_result)},
                    {"item_costs", kit::array(report.item_costs, of_cost)},
                    {"right", report.right()}});
}

}  // namespace nuice::wolff
