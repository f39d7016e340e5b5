// SPDX-License-Identifier: BSD-3-Clause
// What nuice-lee prints.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "irregular/scheme.hpp"
#include "kit/json.hpp"
#include "kit/table.hpp"
#include "lee/options.hpp"
#include "lee/route.hpp"

namespace nuice::lee {

/// The result of one scheme for all nets of all mazes. Times are means over the nets of medians over the
/// repetitions.
struct Result {
  std::string scheme;  ///< Empty for the sequential program.
  std::string sync;    ///< Empty if the scheme has no choice.
  std::int32_t width = 0;
  int num_ranks = 1;
  Seconds seconds;
  double fastest_expansion = 0;  ///< The expansion in the fastest repetitions, which are nearer to an idle
                                 ///< machine.
  std::uint64_t cells = 0;       ///< The number of cells visited in all nets.
  bool right = true;
  irregular::Traffic traffic;  ///< In one repetition, the traffic of the rank that sends most items to a
                               ///< neighbour.
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
  std::vector<Result> alone;  ///< The same code on one rank, for each scheme; empty if not measured.
  std::vector<Result> results;

  double cells_per_s(const Result& result) const {
    const double seconds = result.seconds.expansion * static_cast<double>(num_nets);
    return seconds > 0 ? static_cast<double>(result.cells) / seconds : 0;
  }

  /// Returns T/S * N^2 of 002 s.6: the milliseconds for as many cells as the maze has.
  double scale_ms(const Result& result) const {
    const double rate = cells_per_s(result);
    return rate > 0 ? 1e3 * static_cast<double>(rows) * static_cast<double>(columns) / rate : 0;
  }
};

using kit::Json;

inline const Result* find_alone(const Report& report, const std::string& scheme) {
  const auto at = std::ranges::find(report.alone, scheme, &Result::scheme);
  return at == report.alone.end() ? nullptr : &*at;
}

inline double speed_up(const Result& base, const Result& result) {
  return base.seconds.expansion / result.seconds.expansion;
}

inline std::string title(const Result& result) {
  return result.sync.empty() ? result.scheme : result.scheme + " " + result.sync;
}

inline double per_level(double items, const Result& result) {
  return result.traffic.levels == 0 ? 0 : items / static_cast<double>(result.traffic.levels);
}

/// Returns the best width for each scheme and kind of synchronisation, in the order of the runs.
inline std::vector<const Result*> best_widths(const Report& report) {
  std::vector<const Result*> best;
  for (const Result& result : report.results) {
    const auto same = [&](const Result* other) { return title(*other) == title(result); };
    const auto at = std::ranges::find_if(best, same);
    if (at == best.end())
      best.push_back(&result);
    else if (result.seconds.expansion < (*at)->seconds.expansion)
      *at = &result;
  }
  return best;
}

inline std::string speed_table(const Report& report) {
  kit::Table table("scheme|width|ms a net|Mcells/s|scale ms|speed-up|efficiency|over itself|items");
  const auto row = [&](const std::string& name, const Result& result) {
    const Result* const alone = find_alone(report, result.scheme);
    const auto& items = result.traffic.items;
    const double most_items = items.empty() ? 0 : static_cast<double>(std::ranges::max(items));
    const double gain = speed_up(report.sequential, result);
    table.row("{}|{}|{:.3f}|{:.1f}|{:.3f}|{:.3f}|{:.3f}|{}|{:.3f}", name, result.width,
              1e3 * result.seconds.expansion, 1e-6 * report.cells_per_s(result), report.scale_ms(result),
              gain, gain / result.num_ranks,
              alone != nullptr ? fmt::format("{:.3f}", speed_up(*alone, result)) : "-",
              per_level(most_items, result));
  };
  row("sequential", report.sequential);
  for (const Result* result : best_widths(report)) row(title(*result), *result);
  return table.text();
}

/// Returns the milliseconds per net as a table by width.
inline std::string width_table(const Report& report) {
  std::string heading = "scheme";
  std::vector<std::int32_t> widths;
  for (const Result& result : report.results) {
    if (std::ranges::find(widths, result.width) != widths.end()) continue;
    widths.push_back(result.width);
    heading += fmt::format("|{}", result.width);
  }
  if (widths.size() < 2) return "";
  kit::Table table(heading);
  std::string last;
  for (const Result& result : report.results) {
    if (title(result) != last) table.row("{}", title(result));
    last = title(result);
    table.append(fmt::format("{:.3f}", 1e3 * result.seconds.expansion));
  }
  return "\nms a net by width\n" + table.text();
}

inline std::string sync_table(const Report& report) {
  std::map<std::string, std::map<std::string, double>> times;
  for (const Result* result : best_widths(report))
    if (!result->sync.empty()) times[result->scheme][result->sync] = result->seconds.expansion;
  std::string text;
  for (const auto& [scheme, by_sync] : times)
    if (by_sync.contains("local") && by_sync.contains("global"))
      text += fmt::format("{}: local synchronisation takes {:.3f} x the time of global\n", scheme,
                          by_sync.at("local") / by_sync.at("global"));
  return text.empty() ? text : "\n" + text;
}

inline Json to_json(const Report& report, const Result& result) {
  const Result* const alone = find_alone(report, result.scheme);
  return {{"scheme", result.scheme},
          {"sync", kit::or_null(result.sync)},
          {"transport", result.transport},
          {"width", result.width},
          {"ranks", result.num_ranks},
          {"right", result.right},
          {"expansion_seconds", result.seconds.expansion},
          {"expansion_seconds_fastest", result.fastest_expansion},
          {"recovery_seconds", result.seconds.recovery},
          {"sweeping_seconds", result.seconds.sweeping},
          {"cells_per_second", report.cells_per_s(result)},
          {"scale_milliseconds", report.scale_ms(result)},
          {"speed_up", speed_up(report.sequential, result)},
          {"efficiency", speed_up(report.sequential, result) / result.num_ranks},
          {"speed_up_over_itself", alone != nullptr ? Json(speed_up(*alone, result)) : Json()},
          {"levels", result.traffic.levels},
          {"checks", result.traffic.checks},
          {"items", result.traffic.items},
          {"messages", result.traffic.messages}};
}

inline Json to_json(const Net& net, const Route& route) {
  return {{"source", {net.source.row, net.source.column}},
          {"target", net.has_target() ? Json({net.target.row, net.target.column}) : Json()},
          {"status", name_of(route.status)},
          {"length", route.status == Status::routed ? Json(route.length) : Json()},
          {"visited", route.visited},
          {"levels", route.levels},
          {"hash", fmt::format("{:016x}", route.hash)},
          {"path", route.moves}};
}

inline std::string to_text(const Report& report) {
  std::string text = fmt::format("{} maze{} of {} x {}, {} nets, {} cells reached, {} ranks, delta {}\n",
                                 report.num_mazes, report.num_mazes == 1 ? "" : "s", report.rows,
                                 report.columns, report.num_nets, report.sequential.cells, report.num_ranks,
                                 report.delta ? std::to_string(*report.delta) : "0.2 M");
  std::map<std::string_view, int> counts;
  for (const auto& of_maze : report.routes)
    for (const Route& route : of_maze) ++counts[name_of(route.status)];
  for (const auto& [status, count] : counts) text += fmt::format("{} {}  ", count, status);
  const bool right = std::ranges::all_of(report.results, &Result::right);
  text += right ? "all ways found the same\n\n" : "NOT ALL WAYS FOUND THE SAME\n\n";
  text += speed_table(report) + width_table(report) + sync_table(report);
  return text +
         "\nspeed-up and efficiency: over the sequential program. items: to one neighbour in a level, of the "
         "rank "
         "that sends most\n";
}

inline std::string to_json(const Report& report) {
  Json mazes = Json::array();
  for (std::size_t m = 0; m < report.routes.size(); ++m) {
    const Maze& maze = (*report.mazes)[m];
    Json nets = Json::array();
    for (std::size_t n = 0; n < report.routes[m].size(); ++n)
      nets.push_back(to_json(maze.nets[n], report.routes[m][n]));
    mazes.push_back({{"rows", maze.rows}, {"columns", maze.columns}, {"nets", nets}});
  }
  const auto of_result = [&](const Result& result) { return to_json(report, result); };
  return kit::line({{"ranks", report.num_ranks},
                    {"delta", kit::or_null(report.delta)},
                    {"right", std::ranges::all_of(report.results, &Result::right)},
                    {"sequential", to_json(report, report.sequential)},
                    {"alone", kit::array(report.alone, of_result)},
                    {"results", kit::array(report.results, of_result)},
                    {"mazes", mazes}});
}

}  // namespace nuice::lee
