// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-wolff.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "irregular/scheme.hpp"
#include "wolff/engine.hpp"

namespace nuice::wolff {

struct Options {
  std::int64_t size = 64;
  double beta = 0;  ///< Set to beta_c by add_options.
  std::uint64_t seed = 1;
  std::vector<std::string> schemes;
  std::vector<std::string> syncs = {"local", "global", "none"};
  std::vector<std::int64_t> widths;
  irregular::SchemeOptions scheme;
  std::optional<std::int64_t> delta;
  std::optional<std::int64_t> grain;
  std::int64_t thermalise = 100;
  std::int64_t clusters = 30;
  std::int64_t samples = 2000;
  int reps = 3;
  bool check = true;
  bool item_costs = true;
  bool json = false;
  std::string picture;
};

void add_options(CLI::App& app, Options& options);

/// A way and a width.
struct Case {
  Way way;
  std::int64_t width;
};
/// Schemes x ends of cycles (where the scheme has a choice) x widths. Throws Error invalid_argument.
std::vector<Case> interpret(Options& options, int num_ranks);

}  // namespace nuice::wolff
