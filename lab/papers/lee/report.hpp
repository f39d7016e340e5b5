// SPDX-License-Identifier: BSD-3-Clause
// What nuice-lee prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "irregular/scheme.hpp"
#include "lee/options.hpp"
#include "lee/route.hpp"

namespace nuice::lee {

/// A way to route all nets of all mazes; times are means over the nets of medians over the repetitions.
struct Result {
  std::string scheme;  ///< Empty for the sequential program.
  std::string sync;    ///< Empty where there is no choice.
  std::int32_t width = 0;
  int num_ranks = 1;
  Seconds seconds;
  double fastest_expansion = 0;  ///< The same with the fastest repetitions: nearer to an idle machine.
  std::uint64_t cells = 0;       ///< Visited in all nets.
  bool right = true;
  irregular::Traffic traffic;  ///< Of one repetition, on the rank that sends most items to a neighbour.
  std::string transport;
};

struct Report {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  int num_ranks = 1;
  std::size_t num_mazes = 0;
  std::size_t num_nets = 0;
  std::optional<std::int64_t> delta;       ///< None: 0.2 M of each net.
  std::vector<std::vector<Route>> routes;  ///< By maze and net.
  std::vector<Maze>* mazes = nullptr;
  Result sequential;
  std::vector<Result> alone;  ///< One rank of the same code, by scheme; empty where not measured.
  std::vector<Result> results;
  double cells_per_s(const Result& result) const;
  /// T/S * N^2 of 002 s.6, milliseconds for as many cells as the maze has.
  double scale_ms(const Result& result) const;
};

std::string to_text(const Report& report);
std::string to_json(const Report& report);

}  // namespace nuice::lee
