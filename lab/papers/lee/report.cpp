// SPDX-License-Identifier: BSD-3-Clause
#include "lee/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace nuice::lee {
namespace {

using Json = nlohmann::ordered_json;

const Result* find_alone(const Report& report, const std::string& scheme) {
  const auto at = std::ranges::find(report.alone, scheme, &Result::scheme);
  return at == report.alone.end() ? nullptr : &*at;
}

double speed_up(const Result& base, const Result& result) {
  return base.seconds.expansion / result.seconds.expansion;
}

std::string title(const Result& result) {
  return result.sync.empty() ? result.scheme : result.scheme + " " + result.sync;
}

double per_level(double items, const Result& result) {
  return result.traffic.levels == 0 ? 0 : items / static_cast<double>(result.traffic.levels);
}

/// By scheme and end of cycles, in the order of the runs; the best width of each.
std::vector<const Result*> best_widths(const Report& report) {
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

std::string speed_table(const Report& report) {
  std::string text =
      fmt::format("{:16} {:>6} {:>10} {:>10} {:>9} {:>9} {:>10} {:>11} {:>9}\n", "scheme", "width",
                  "ms a net", "Mcells/s", "scale ms", "speed-up", "efficiency", "over itself", "items");
  const auto row = [&](const Result& result) {
    const Result* const alone = find_alone(report, result.scheme);
    text += fmt::format(
        "{:16} {:>6} {:>10.3f} {:>10.1f} {:>9.3f} {:>9.3f} {:>10.3f} {:>11} {:>9.3f}\n", title(result),
        result.width, 1e3 * result.seconds.expansion, 1e-6 * report.cells_per_s(result),
        report.scale_ms(result), speed_up(report.sequential, result),
        speed_up(report.sequential, result) / result.num_ranks,
        alone ? fmt::format("{:.3f}", speed_up(*alone, result)) : "-",
        per_level(static_cast<double>(std::ranges::max(
                      result.traffic.items.empty() ? std::vector<std::uint64_t>{0} : result.traffic.items)),
                  result));
  };
  Result sequential = report.sequential;
  sequential.scheme = "sequential";
  row(sequential);
  for (const Result* result : best_widths(report)) row(*result);
  return text;
}

/// Milliseconds a net, by width.
std::string width_table(const Report& report) {
  std::vector<std::int32_t> widths;
  for (const Result& result : report.results)
    if (std::ranges::find(widths, result.width) == widths.end()) widths.push_back(result.width);
  if (widths.size() < 2) return "";
  std::string text = fmt::format("\nms a net by width\n{:16}", "scheme");
  for (const std::int32_t width : widths) text += fmt::format(" {:>9}", width);
  std::string last;
  for (const Result& result : report.results) {
    if (title(result) != last) text += fmt::format("\n{:16}", title(result));
    last = title(result);
    text += fmt::format(" {:>9.3f}", 1e3 * result.seconds.expansion);
  }
  return text + "\n";
}

std::string sync_table(const Report& report) {
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

Json to_json(const Report& report, const Result& result) {
  const Result* const alone = find_alone(report, result.scheme);
  return {{"scheme", result.scheme},
          {"sync", result.sync.empty() ? Json() : Json(result.sync)},
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

Json to_json(const Net& net, const Route& route) {
  Json json = {{"source", {net.source.row, net.source.column}},
               {"target", net.has_target() ? Json({net.target.row, net.target.column}) : Json()},
               {"status", name_of(route.status)},
               {"length", route.status == Status::routed ? Json(route.length) : Json()},
               {"visited", route.visited},
               {"levels", route.levels},
               {"hash", fmt::format("{:016x}", route.hash)},
               {"path", route.moves}};
  return json;
}

}  // namespace

double Report::cells_per_s(const Result& result) const {
  const double seconds = result.seconds.expansion * static_cast<double>(num_nets);
  return seconds > 0 ? static_cast<double>(result.cells) / seconds : 0;
}

double Report::scale_ms(const Result& result) const {
  const double rate = cells_per_s(result);
  return rate > 0 ? 1e3 * static_cast<double>(rows) * static_cast<double>(columns) / rate : 0;
}

std::string to_text(const Report& report) {
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

std::string to_json(const Report& report) {
  Json mazes = Json::array();
  for (std::size_t m = 0; m < report.routes.size(); ++m) {
    Json nets = Json::array();
    for (std::size_t n = 0; n < report.routes[m].size(); ++n)
      nets.push_back(to_json((*report.mazes)[m].nets[n], report.routes[m][n]));
    mazes.push_back(
        {{"rows", (*report.mazes)[m].rows}, {"columns", (*report.mazes)[m].columns}, {"nets", nets}});
  }
  Json alone = Json::array();
  for (const Result& result : report.alone) alone.push_back(to_json(report, result));
  Json results = Json::array();
  for (const Result& result : report.results) results.push_back(to_json(report, result));
  const Json json = {{"ranks", report.num_ranks},
                     {"delta", report.delta ? Json(*report.delta) : Json()},
                     {"right", std::ranges::all_of(report.results, &Result::right)},
                     {"sequential", to_json(report, report.sequential)},
                     {"alone", alone},
                     {"results", results},
                     {"mazes", mazes}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nuice::lee
