// SPDX-License-Identifier: BSD-3-Clause
// The results as a table for people and as JSON lines for programs.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "kit/json.hpp"
#include "kit/table.hpp"
#include "kit/units.hpp"
#include "nuice_bench/input.hpp"
#include "nuice_bench/measure.hpp"
#include "nuice_bench/mpi_settings.hpp"

namespace nuice::bench {

/// The data that all lines share.
struct Setting {
  const Options& options;
  const Input& input;  // rank 0's
  int num_ranks;
  std::string mpi_library;  // first line of MPI_Get_library_version()
  MpiSettings mpi_settings{};
};

using kit::Json;
using kit::or_null;

/// Rounds to hundredths of a nanosecond, which are meaningful in a batch.
inline Json seconds(std::optional<double> value) {
  return value ? Json(std::round(*value * 1e11) / 1e11) : Json();
}

/// Returns the executor that carried out the exchange; for a choice, its second part.
inline std::string executor_name_of(const Result& result) {
  if (result.choice) return result.choice->advice.choice().executor;
  return result.spec.executor;
}

inline std::string executor_of(const Result& result) {
  if (result.choice) return result.choice->advice.choice().name();
  if (result.spec.drs) return "on the fly";
  return result.spec.is_peer ? "-" : result.spec.executor;
}

/// Returns the time that the first "auto" predicts for this method; nothing without "auto".
inline std::optional<double> predicted_s(const Result& result, const std::vector<Result>& results) {
  if (result.choice) return result.choice->predicted_s;
  const auto adviser = std::ranges::find_if(results, [](const Result& r) { return r.choice.has_value(); });
  if (adviser == results.end() || result.spec.scheduler.empty() || !result.refused.empty())
    return std::nullopt;
  const std::string name = result.spec.scheduler + ":" + executor_of(result);
  const Advice& advice = adviser->choice->advice;
  if (name == advice.choice().name()) return adviser->choice->predicted_s;
  const auto known = std::ranges::find(advice.candidates, name, &Candidate::name);
  const bool is_predicted = known != advice.candidates.end() && known->applicable;
  return is_predicted ? std::optional(known->exchange_s) : std::nullopt;
}

inline std::optional<double> over_prediction(const Result& result, std::optional<double> predicted) {
  if (!predicted || *predicted <= 0) return std::nullopt;
  return result.exchange.median_s / *predicted;
}

inline bool has_choice(const std::vector<Result>& results) {
  return std::ranges::any_of(results, [](const Result& result) { return result.choice.has_value(); });
}

/// Returns the number of exchanges after which planning plus exchanging costs less than with `best`; nothing
/// if it never does.
inline std::optional<double> reuses_to_pay_off(const Result& result, const Result& best) {
  // planning + n * exchange < best planning + n * best exchange
  const double gain_s = best.exchange.median_s - result.exchange.median_s;
  const double cost_s = result.planning.total_s - best.planning.total_s;
  if (gain_s <= 0) return std::nullopt;
  return std::max(1.0, std::ceil(cost_s / gain_s));
}

inline Rank num_members(const Setting& setting) {
  Rank members = 0;
  for (Rank rank = 0; rank < setting.num_ranks; ++rank)
    members += is_member(*setting.options.broadcast, rank) ? 1 : 0;
  return members;
}

inline std::string title(const Setting& setting) {
  const Options& options = setting.options;
  const Bounds& bounds = setting.input.bounds;
  if (options.broadcast)
    return fmt::format("broadcast of {} bytes from rank {}: {} ranks, {} of them have it in the end",
                       options.broadcast->bytes, options.broadcast->root, setting.num_ranks,
                       num_members(setting));
  return fmt::format("{}: {} ranks, {} messages, {} bytes, max degree {}, at most {} bytes through one rank",
                     options.matrix, setting.num_ranks, setting.input.num_messages,
                     bounds.total_bytes + setting.input.self_bytes, bounds.max_degree, bounds.max_port_bytes);
}

/// Returns notes about the choices, and about models that are wrong.
inline std::string choice_notes(const Result& result) {
  const Choice& choice = *result.choice;
  std::string notes = fmt::format("{}: {}\n", result.spec.word, choice.advice.sentence);
  const auto ms = [](std::optional<double> seconds) { return 1e3 * seconds.value_or(0); };
  const PlanningTime& planning = result.planning;
  notes += fmt::format(
      "{}: planning took {:.3g} ms here: gathering the matrix {:.3g}, choosing {:.3g}, making the schedule "
      "{:.3g}, checking it {:.3g}, binding {:.3g}\n",
      result.spec.word, ms(planning.total_s), ms(planning.gather_s), ms(planning.choose_s),
      ms(planning.schedule_s), ms(planning.check_s), ms(planning.bind_s));
  if (const auto ratio = over_prediction(result, choice.predicted_s))
    notes += fmt::format("{}: predicted {:.3f} ms, measured {:.3f} ms: {:.2f} times the prediction{}\n",
                         result.spec.word, 1e3 * choice.predicted_s, 1e3 * result.exchange.median_s, *ratio,
                         *ratio > 2 || *ratio < 0.5
                             ? "; machine " + choice.advice.machine + " does not describe this one"
                             : "");
  return notes;
}

/// Returns MPI's fastest method by median; nullptr if none was run.
inline const Result* best_peer(const std::vector<Result>& results) {
  const Result* best = nullptr;
  for (const Result& result : results)
    if (result.spec.is_peer && result.refused.empty() &&
        (best == nullptr || result.exchange.median_s < best->exchange.median_s))
      best = &result;
  return best;
}

inline void add_row(kit::Table& table, const Result& result, const std::vector<Result>& results,
                    const Result* best) {
  const auto ms = [](double seconds) { return kit::decimals(seconds, seconds < 1e-5 ? 5 : 3, 1e3); };
  const ExchangeTime& time = result.exchange;
  const auto reuses = best != nullptr ? reuses_to_pay_off(result, *best) : std::nullopt;
  const std::string when = reuses ? kit::decimals(reuses, 0) : "never";
  table.row("{}|{}|{}|{}|{}|{}|{}|{}|{}", result.spec.word, executor_of(result),
            result.num_phases ? std::to_string(*result.num_phases) : "-", ms(result.planning.total_s),
            ms(time.median_s), ms(time.min_s), ms(time.max_s),
            best != nullptr ? kit::decimals(time.median_s / best->exchange.median_s, 2) : "-",
            result.spec.is_peer || best == nullptr ? "-" : when);
  if (!has_choice(results)) return;
  const auto predicted = predicted_s(result, results);
  table.append(kit::decimals(predicted, 3, 1e3));
  table.append(kit::decimals(over_prediction(result, predicted), 2));
}

/// Returns an aligned table with a heading and notes.
inline std::string table(const Setting& setting, const std::vector<Result>& results) {
  const Result* const best = best_peer(results);
  const std::string heading =
      "method|executor|phases|plan ms|median ms|min ms|max ms|x best MPI|pays off after";
  kit::Table table(heading + (has_choice(results) ? "|predicted ms|x predicted" : ""), 2);
  std::string notes;
  for (const Result& result : results) {
    if (result.asking)
      notes += fmt::format("{}: {:.2f} inquiries and {:.2f} refusals per message\n", result.spec.word,
                           result.asking->inquiries, result.asking->refusals);
    if (result.refused.empty()) {
      add_row(table, result, results, best);
      if (result.choice) notes += choice_notes(result);
    } else {
      notes += fmt::format("{} was not run: {}\n", result.spec.word, result.refused);
    }
  }
  return fmt::format("{}\n{}\n\n{}{}Every byte was verified after each of {} + {} repetitions.\n{}",
                     title(setting), setting.mpi_library, table.text(), notes, setting.options.warmup,
                     setting.options.reps, sentence(setting.mpi_settings));
}

inline Json problem_json(const Setting& setting) {
  const Options& options = setting.options;
  const Bounds& bounds = setting.input.bounds;
  if (options.broadcast)
    return {{"broadcast_bytes", options.broadcast->bytes},
            {"root", options.broadcast->root},
            {"ranks", setting.num_ranks},
            {"members", num_members(setting)}};
  return {{"matrix", options.matrix},
          {"ranks", setting.num_ranks},
          {"messages", setting.input.num_messages},
          {"max_degree", bounds.max_degree},
          {"bound_bytes", bounds.max_port_bytes},
          {"bytes_moved", bounds.total_bytes + setting.input.self_bytes}};
}

inline Json learnt_json(const mpi::ExchangeInfo& info) {
  const auto of_method = [](const mpi::MethodTrial& method) -> Json {
    return {{"name", method.name},
            {"blocks", method.blocks},
            {"mean_seconds", method.mean_s},
            {"is_in", method.is_in}};
  };
  return {{"executor", info.executor},
          {"scheduler", info.scheduler},
          {"used_since", info.used_since},
          {"methods", kit::array(info.methods, of_method)}};
}

inline Json to_json(const Setting& setting, const Result& result, const Result* best) {
  const Options& options = setting.options;
  const bool planned = !result.spec.is_peer && !result.spec.drs;
  const bool ran = result.refused.empty();
  const auto if_ran = [&](double value) { return ran ? seconds(value) : Json(); };
  const auto reuses =
      !result.spec.is_peer && ran && best != nullptr ? reuses_to_pay_off(result, *best) : std::nullopt;
  Json line = problem_json(setting);
  line.update({{"method", result.spec.word},
               {"scheduler", planned ? Json(result.spec.scheduler) : Json()},
               {"executor", planned ? Json(executor_name_of(result)) : Json()},
               {"seed", options.plan.seed},
               {"phase_cost_bytes", options.plan.phase_cost_bytes},
               {"reps", options.reps},
               {"warmup", options.warmup},
               {"settle", options.settle},
               {"batch", options.batch},
               {"max_sends_in_flight", options.plan.async.max_sends},
               {"phases", or_null(result.num_phases)},
               {"hosts", or_null(result.num_hosts)},
               {"phase_bytes", or_null(result.phase_bytes)},
               {"plan_seconds", if_ran(result.planning.total_s)},
               {"gather_seconds", seconds(result.planning.gather_s)},
               {"schedule_seconds", seconds(result.planning.schedule_s)},
               {"check_seconds", seconds(result.planning.check_s)},
               {"bind_seconds", seconds(result.planning.bind_s)},
               {"exchange_seconds_median", if_ran(result.exchange.median_s)},
               {"exchange_seconds_min", if_ran(result.exchange.min_s)},
               {"exchange_seconds_max", if_ran(result.exchange.max_s)},
               {"exchange_seconds_p95", if_ran(result.exchange.p95_s)},
               {"exchange_seconds_all", ran ? Json(result.all_s) : Json()},
               {"exchange_methods_all", result.by.empty() ? Json() : Json(result.by)},
               {"exchange_begins_all", ran ? Json(result.begin_s) : Json()},
               {"learnt", result.learnt ? learnt_json(*result.learnt) : Json()},
               {"tcp_segments_sent_again", or_null(result.sent_again)},
               {"inquiries_per_message", result.asking ? Json(result.asking->inquiries) : Json()},
               {"refusals_per_message", result.asking ? Json(result.asking->refusals) : Json()},
               {"best_mpi", best != nullptr ? Json(best->spec.word) : Json()},
               {"ratio_to_best_mpi",
                ran && best != nullptr ? Json(result.exchange.median_s / best->exchange.median_s) : Json()},
               {"reuses_to_pay_off", or_null(reuses)},
               {"verified", ran ? Json(true) : Json()},
               {"refused", or_null(result.refused)},
               {"mpi_library", setting.mpi_library},
               {"mpi_settings", to_json(setting.mpi_settings)}});
  return line;
}

/// Returns the keys of a line for a method that was chosen, or that was a candidate.
inline Json prediction_json(const Result& result, const std::vector<Result>& results) {
  const auto predicted = predicted_s(result, results);
  Json keys = {{"predicted_seconds", seconds(predicted)},
               {"measured_over_predicted", or_null(over_prediction(result, predicted))}};
  if (!result.choice) return keys;
  const Choice& choice = *result.choice;
  keys.update({{"choice", choice.advice.choice().name()},
               {"choose_seconds", seconds(result.planning.choose_s)},
               {"advice", Json::parse(to_json(choice.advice), nullptr, false)}});
  return keys;
}

/// Returns one object per line for each method.
inline std::string json_lines(const Setting& setting, const std::vector<Result>& results) {
  const Result* const best = best_peer(results);
  std::string lines;
  for (const Result& result : results) {
    Json line = to_json(setting, result, best);
    if (has_choice(results)) line.update(prediction_json(result, results));
    lines += kit::line(line);
  }
  return lines;
}

}  // namespace nuice::bench
