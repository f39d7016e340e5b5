// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-lee.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "irregular/scheme.hpp"
#include "lee/maze.hpp"

namespace nuice::lee {

struct Options {
  std::string size = "256";
  MazeOptions maze;
  std::string layout = "cells";
  std::string file;
  std::vector<std::string> schemes;
  std::vector<std::string> syncs = {"local", "global"};
  std::vector<std::int32_t> widths = {1, 4, 16, 64};
  irregular::SchemeOptions scheme;
  std::optional<std::int64_t> delta;  // none: 0.2 M of each net
  std::size_t poll_cells = 64;
  int reps = 3;
  bool keep_paths = true;
  bool check = true;
  bool alone = true;
  bool json = false;
  std::string distances;
  std::string grid;
};

void add_options(CLI::App& app, Options& options);

/// One run: a scheme, an end of cycles, a width.
struct Case {
  irregular::SchemeOptions scheme;
  std::int32_t width;
};
/// Schemes x ends of cycles (where the scheme has a choice) x widths. Throws Error invalid_argument.
std::vector<Case> interpret(Options& options);

}  // namespace nuice::lee
