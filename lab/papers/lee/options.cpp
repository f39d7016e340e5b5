// SPDX-License-Identifier: BSD-3-Clause
#include "lee/options.hpp"

#include <charconv>

#include "nuice/core/error.hpp"

namespace nuice::lee {
namespace {

std::int32_t parse_side(const std::string& text, const std::string& whole) {
  std::int32_t value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || stop != text.data() + text.size() || value < 1 || value > max_side)
    throw Error(
        ErrorCode::invalid_argument,
        "--size " + whole + ": expected N or ROWSxCOLUMNS, each between 1 and " + std::to_string(max_side));
  return value;
}

/// SSR and ASR synchronise by their messages.
bool has_sync(const std::string& scheme) { return irregular::find_scheme(scheme).active_messages; }

}  // namespace

void add_options(CLI::App& app, Options& options) {
  app.add_option("--size", options.size, "of the maze that is made: N, or ROWSxCOLUMNS")
      ->capture_default_str();
  app.add_option("--walls", options.maze.fraction, "share of its cells that are walls")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  app.add_option("--layout", options.layout,
                 "of walls: cells, each for itself, or blocks, squares that may overlap")
      ->check(CLI::IsMember({"cells", "blocks"}))
      ->capture_default_str();
  app.add_option("--nets", options.maze.nets, "routed one after the other; 0: flood it from the middle")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  app.add_option("--nearest", options.maze.nearest, "Manhattan distance of a net's ends in sides, at least")
      ->check(CLI::Range(0.0, 2.0))
      ->capture_default_str();
  app.add_option("--farthest", options.maze.farthest, "... and at most")
      ->check(CLI::Range(0.0, 2.0))
      ->capture_default_str();
  app.add_option("--seed", options.maze.seed, "of walls and nets")->capture_default_str();
  app.add_option("--maze", options.file, "read mazes and nets from this file instead (lab/papers/docs/lee.md)");
  app.add_option("--schemes", options.schemes, "separated by commas; all where none is named")
      ->delimiter(',');
  app.add_option("--widths", options.widths, "of the stripes, separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--sync", options.syncs, "ends of cycles of the schemes that have a choice: local, global")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option(
      "--delta", options.delta,
      "levels between two looks whether all are done; 0.2 M where it is not given, M the distance of the "
      "net's ends (002 s.6)");
  app.add_option("--transport", options.scheme.transport, "of active messages: best, shm, mpi, ucx")
      ->capture_default_str();
  app.add_option("--second", options.scheme.second, "transport of ST-NC-O")->capture_default_str();
  app.add_option("--buffer-bytes", options.scheme.buffer_bytes, "of AM-C-O, for each neighbour")
      ->capture_default_str();
  app.add_option("--poll-cells", options.poll_cells, "cells expanded between two polls")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--reps", options.reps, "measurements of each")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_flag("--block,!--no-block", options.keep_paths, "whether a path blocks the nets that follow");
  app.add_flag("--check,!--no-check", options.check, "whether to compare with the sequential program");
  app.add_flag("--alone,!--no-alone", options.alone, "whether to measure the same code on one rank too");
  app.add_option("--distances", options.distances,
                 "write the distances of the last net here: int32, row by row, -1 where it did not get");
  app.add_option("--grid", options.grid,
                 "write the maze with its paths ('+') here, as it is after the last net");
  app.add_flag("--json", options.json, "one JSON object on one line, nothing else on stdout");
}

std::vector<Case> interpret(Options& options) {
  const std::size_t x = options.size.find('x');
  options.maze.rows = parse_side(options.size.substr(0, x), options.size);
  options.maze.columns =
      x == std::string::npos ? options.maze.rows : parse_side(options.size.substr(x + 1), options.size);
  options.maze.walls = options.layout == "cells" ? Walls::cells : Walls::blocks;
  if (options.schemes.empty())
    for (const irregular::SchemeRow& row : irregular::schemes()) options.schemes.emplace_back(row.name);
  std::vector<Case> cases;
  for (const std::string& name : options.schemes)
    for (const std::string& sync : options.syncs) {
      irregular::SchemeOptions scheme = options.scheme;
      scheme.name = name;
      scheme.sync = irregular::find_sync(sync);
      irregular::check(scheme, options.delta.value_or(1));
      if (scheme.sync == irregular::Sync::none)
        throw Error(ErrorCode::invalid_argument,
                    "--sync none: a shortest path needs levels; expected local, global");
      if (!has_sync(name) && sync != options.syncs.front()) continue;
      for (const std::int32_t width : options.widths) cases.push_back({scheme, width});
    }
  return cases;
}

}  // namespace nuice::lee
