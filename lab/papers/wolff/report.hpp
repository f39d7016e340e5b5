// SPDX-License-Identifier: BSD-3-Clause
// What nuice-wolff prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wolff/options.hpp"
#include "wolff/statistics.hpp"

namespace nuice::wolff {

/// A test against what is known.
struct Finding {
  std::string what;
  double value = 0;
  double error = 0;
  double expected = 0;
  double pull = 0;  ///< In standard errors.
  bool right() const;
};

struct Physics {
  std::int64_t samples = 0;
  std::int64_t clusters_per_sample = 0;
  Estimate energy;         ///< Per site.
  Estimate magnetisation;  ///< |M| per site.
  Estimate cluster;        ///< Mean size.
};

/// One way at one width.
struct Result {
  std::string scheme;
  std::string sync;  ///< Empty where there is no choice.
  std::int64_t width = 0;
  std::int64_t delta = 0;
  std::int64_t grain = 0;
  std::string transport;
  bool same = true;          ///< Spins and sizes of clusters are those of the sequential program.
  double seconds = 0;        ///< For a cluster: median over the repetitions of the maximum over the ranks.
  double alone_seconds = 0;  ///< The same code on one rank; 0 where not measured.
  double cycles = 0;         ///< For a cluster.
  double checks = 0;
  double items_left = 0;   ///< In a cycle, to the rank before, the largest of all ranks (002 fig. 35).
  double items_right = 0;  ///< To the rank after.
  double messages = 0;     ///< In a cycle, in both directions.
};

struct Report {
  std::int64_t size = 0;
  double beta = 0;
  int num_ranks = 1;
  std::int64_t clusters = 0;
  double mean_cluster = 0;        ///< Of the clusters that were timed.
  double sequential_seconds = 0;  ///< For a cluster.
  std::optional<Physics> physics;
  std::vector<Finding> findings;
  std::vector<Result> results;
  /// Seconds that an item costs sender and receiver together, by scheme; empty on one rank.
  std::vector<std::pair<std::string, double>> item_costs;

  /// 002 s.6: T/S N^2, milliseconds.
  double scale_ms(double seconds_per_cluster) const;
  bool right() const;
};

/// Widths from which sending pays: with the sequential time of a flip t and that of an item c, P ranks flip a site in
/// (t + 2 p c / w) / P, as 2 p / w of its bonds lead to another rank. Below 1: at any width. Empty on one rank.
double width_that_pays(const Report& report, double item_seconds);

std::string to_text(const Report& report);
std::string to_json(const Report& report);

}  // namespace nuice::wolff
