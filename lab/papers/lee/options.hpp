// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-lee.
#pragma once

#include <string>
#include <vector>

#include "irregular/options.hpp"
#include "lee/maze.hpp"

namespace nuice::lee {

struct Options : irregular::CommonOptions {
  std::string size = "256";
  MazeOptions maze;
  std::string layout = "cells";
  std::string file;
  std::size_t poll_cells = 64;
  bool keep_paths = true;
  bool alone = true;
  std::string distances;
  std::string grid;
};

void add_options(kit::App& app, Options& options);

/// One run: a scheme, an end of cycles, a width.
struct Case {
  irregular::SchemeOptions scheme;
  std::int32_t width;
};
/// Schemes x ends of cycles (where the scheme has a choice) x widths. Throws Error invalid_argument.
std::vector<Case> interpret(Options& options);

}  // namespace nuice::lee
