// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-wolff.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "irregular/options.hpp"
#include "wolff/engine.hpp"

namespace nuice::wolff {

struct Options : irregular::CommonOptions {
  std::int64_t size = 64;
  double beta = 0;  ///< Set to beta_c by add_options.
  std::optional<std::int64_t> grain;
  std::int64_t thermalise = 100;
  std::int64_t clusters = 30;
  std::int64_t samples = 2000;
  bool item_costs = true;
  std::string picture;
};

void add_options(kit::App& app, Options& options);

/// A way and a width.
struct Case {
  Way way;
  std::int64_t width;
};
/// Schemes x ends of cycles (where the scheme has a choice) x widths. Throws Error invalid_argument.
std::vector<Case> interpret(Options& options, int num_ranks);

}  // namespace nuice::wolff
