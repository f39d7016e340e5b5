// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-lee.
#pragma once

#include <string>
#include <vector>

#include "irregular/options.hpp"
#include "kit/errors.hpp"
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

/// One run: a scheme, its kind of synchronisation and a width.
struct Case {
  irregular::SchemeOptions scheme;
  std::int32_t width;
};

/// Returns whether the scheme has a choice of synchronisation. SSR and ASR synchronise by their messages.
inline bool has_sync(const std::string& scheme) { return irregular::find_scheme(scheme).active_messages; }

inline void add_options(kit::App& app, Options& options) {
  kit::add(app, "--size", options.size, "of the maze that is made: N, or ROWSxCOLUMNS");
  kit::add(app, "--walls", options.maze.fraction, "share of its cells that are walls", kit::range(0.0, 0.9));
  kit::add(app, "--layout", options.layout,
           "of walls: cells, each for itself, or blocks, squares that may overlap",
           kit::one_of({"cells", "blocks"}));
  kit::add(app, "--nets", options.maze.nets, "routed one after the other; 0: flood it from the middle",
           kit::range(0, 10'000));
  kit::add(app, "--nearest", options.maze.nearest, "Manhattan distance of a net's ends in sides, at least",
           kit::range(0.0, 2.0));
  kit::add(app, "--farthest", options.maze.farthest, "... and at most", kit::range(0.0, 2.0));
  kit::add(app, "--maze", options.file, "read mazes and nets from this file instead (papers/docs/lee.md)");
  options.widths = {1, 4, 16, 64};
  options.syncs = {"local", "global"};
  irregular::add_options(app, options, "0.2 M, M the distance of the net's ends (002 s.6)");
  kit::add(app, "--poll-cells", options.poll_cells, "cells expanded between two polls", kit::positive());
  kit::add_flag(app, "--block,!--no-block", options.keep_paths, "whether a path blocks the nets that follow");
  kit::add_flag(app, "--check,!--no-check", options.check, "whether to compare with the sequential program");
  kit::add_flag(app, "--alone,!--no-alone", options.alone,
                "whether to measure the same code on one rank too");
  kit::add(app, "--distances", options.distances,
           "write the distances of the last net here: int32, row by row, -1 where it did not get");
  kit::add(app, "--grid", options.grid,
           "write the maze with its paths ('+') here, as it is after the last net");
}

/// Returns all combinations of schemes, kinds of synchronisation (if the scheme has a choice) and widths.
/// Throws Error invalid_argument.
inline std::vector<Case> interpret(Options& options) {
  const auto [rows, columns] = kit::parse_size(options.size, max_side);
  options.maze.rows = static_cast<std::int32_t>(rows);
  options.maze.columns = static_cast<std::int32_t>(columns);
  options.maze.seed = options.seed;
  options.maze.walls = options.layout == "cells" ? Walls::cells : Walls::blocks;
  options.add_missing();
  if (options.reps < 1) kit::refuse("--reps: expected at least 1");
  std::vector<Case> cases;
  for (const std::string& name : options.schemes)
    for (const std::string& sync : options.syncs) {
      irregular::SchemeOptions scheme = options.scheme;
      scheme.name = name;
      scheme.sync = irregular::find_sync(sync);
      irregular::check(scheme, options.delta.value_or(1));
      if (scheme.sync == irregular::Sync::none)
        kit::refuse("--sync none: a shortest path needs levels; expected local, global");
      if (!has_sync(name) && sync != options.syncs.front()) continue;
      for (const std::int64_t width : options.widths)
        cases.push_back({scheme, static_cast<std::int32_t>(width)});
    }
  return cases;
}

}  // namespace nuice::lee
