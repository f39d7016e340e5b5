// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/plan/at_scale.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "nuice/core/check_pairs.hpp"
#include "nuice/core/error.hpp"
#include "scale/changes.hpp"
#include "scale/patterns.hpp"
#include "scale/tables_check.hpp"
#include "schedulers/distributed/all_ranks.hpp"
#include "schedulers/distributed/table_of.hpp"

namespace nuice {
namespace {

using namespace scale;
using namespace distributed;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::uint64_t most_process_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::uint64_t bytes_of(const PhaseTable& table) {
  return sizeof(table) + (table.destinations.size() + table.sources.size()) * sizeof(Partner) +
         table.entries.size() * sizeof(PhaseEntry);
}

/// Makes the plan of all ranks.
class Planner {
 public:
  Planner(Rows sends, std::uint64_t seed, const OnScaleProgress& on_progress)
      : ranks_(std::move(sends)),
        receives_(transposed(ranks_)),
        palette_(limits_of(ranks_, receives_)),
        seed_(seed),
        on_progress_(on_progress) {}

  /// Colours all messages that have no colour.
  ScaleRun run(const std::string& step) {
    ScaleRun run;
    const auto begin = std::chrono::steady_clock::now();
    {
      AllRanks world(ranks_, receives_, palette_, seed_);
      std::uint64_t all = 0;
      run_rounds(world, palette_, [&](std::uint32_t, std::uint64_t unsettled) {
        all = std::max({all, unsettled, std::uint64_t{1}});
        // The progress is a logarithm, because every round settles about the same share of the remaining
        // messages.
        tell(step, 1 - std::log1p(static_cast<double>(unsettled)) / std::log1p(static_cast<double>(all)));
      });
      for (const RoundCount& round : world.counts()) {
        run.letters += round.letters;
        run.rounds.push_back({round.most_in, round.most_out});
      }
      run.most_letters_of_a_rank = world.most_letters_of_a_rank();
      memory_ = std::max<std::uint64_t>(memory_, side_bytes() + world.most_letter_bytes_of_a_rank());
    }
    run.seconds = seconds_since(begin);
    number_phases(run);
    verify(run);
    return run;
  }

  /// Gives new partners to a share of the messages. Returns the number of changed messages.
  std::uint64_t change(double share) {
    Random random(mix64(seed_ + 1));
    const std::uint64_t changed = exchange_partners(ranks_, share, random);
    receives_ = transposed(ranks_);
    palette_ = Palette(limits_of(ranks_, receives_), &palette_);
    return changed;
  }

  std::uint64_t num_messages() const { return ranks_.size(); }
  std::vector<Bytes> limits() const { return limits_of(ranks_, receives_); }
  std::uint64_t memory_per_rank_bytes() const { return memory_; }

 private:
  void tell(const std::string& step, double done) const {
    if (on_progress_) on_progress_(step, done);
  }

  std::uint64_t side_bytes() const {
    std::size_t most = 0;
    for (Rank rank = 0; rank < ranks_.num_ranks(); ++rank)
      most = std::max(most, ranks_.degree(rank) + receives_.degree(rank));
    return most * (sizeof(Rank) + sizeof(Bytes) + sizeof(Colour)) + 2 * sizeof(Side) + sizeof(Turn);
  }

  void number_phases(ScaleRun& run) {
    std::vector<std::uint8_t> used(palette_.size(), 0);
    for (const Colour colour : ranks_.colours) used[colour] = 1;
    phase_of_ = phases_of(used);
    run.num_phases = static_cast<std::uint32_t>(std::ranges::count(used, 1));
    std::vector<Bytes> largest(phase_of_.size(), 0);
    for (std::uint64_t i = 0; i < ranks_.size(); ++i)
      largest[ranks_.colours[i]] = std::max(largest[ranks_.colours[i]], ranks_.bytes[i]);
    run.phase_bytes = std::accumulate(largest.begin(), largest.end(), Bytes{0});
  }

  void verify(ScaleRun& run) {
    const std::uint64_t bytes = side_bytes();
    const auto table = [&](Rank rank) {
      PhaseTable made =
          table_of(ranks_.side(rank), receives_.side(rank), phase_of_, run.num_phases, ranks_.num_ranks());
      memory_ = std::max(memory_, bytes + bytes_of(made));
      return made;
    };
    const auto violation = check_all(ranks_.num_ranks(), table, [&](double done) { tell("checking", done); });
    run.verified = !violation;
    if (violation) run.violation = violation->text;
  }

  Rows ranks_;  // the messages that ranks send
  Rows receives_;
  Palette palette_;
  std::uint64_t seed_;
  const OnScaleProgress& on_progress_;
  std::vector<PhaseId> phase_of_;
  std::uint64_t memory_ = 0;
};

template <typename Rows>
std::vector<ScaleName> names_of(const Rows& rows) {
  std::vector<ScaleName> names;
  for (const auto& row : rows) names.push_back({row.name, row.summary});
  return names;
}

/// For a sample of ranks, returns the number of links of the longest route between them.
std::size_t longest_route(const Topology& topology) {
  constexpr Rank sample = 64;
  const Rank stride = std::max<Rank>(1, topology.num_ranks() / sample);
  std::size_t longest = 0;
  std::vector<LinkId> route;
  for (Rank src = 0; src < topology.num_ranks(); src += stride)
    for (Rank dst = 0; dst < topology.num_ranks(); dst += stride) {
      route.clear();
      topology.append_route(src, dst, route);
      longest = std::max(longest, route.size());
    }
  return longest;
}

}  // namespace

std::vector<ScaleName> scale_patterns() { return names_of(patterns()); }
std::vector<ScaleName> scale_sizes() { return names_of(size_laws()); }

ScaleReport plan_at_scale(const ScaleProblem& problem, const OnScaleProgress& on_progress) {
  if (!(problem.changed >= 0 && problem.changed <= 1))
    throw Error(ErrorCode::invalid_argument, "share of changed messages: between 0 and 1");
  if (on_progress) on_progress("drawing the matrix", 0);
  Planner planner(make_rows(problem.pattern, problem.sizes, problem.num_ranks, problem.degree, problem.seed),
                  problem.seed, on_progress);
  const std::vector<Bytes> limits = planner.limits();
  ScaleReport report{.num_ranks = problem.num_ranks,
                     .num_messages = planner.num_messages(),
                     .max_degree = static_cast<std::uint32_t>(limits.size()),
                     .whole_message_bytes = std::accumulate(limits.begin(), limits.end(), Bytes{0})};
  report.plan = planner.run("planning");
  if (problem.changed > 0) {
    report.num_changed = planner.change(problem.changed);
    report.follow = planner.run("following");
  }
  report.memory_per_rank_bytes = planner.memory_per_rank_bytes();
  report.process_bytes = most_process_bytes();
  return report;
}

double modelled_planning_s(const ScaleReport& report, const ScaleRun& run, const Machine& machine) {
  const double levels = std::ceil(std::log2(std::max(2.0, static_cast<double>(report.num_ranks))));
  const double level_s = machine.barrier_level_s;
  const double sum_s = machine.barrier_s + level_s * levels;
  const double way_s =
      machine.latency_s + static_cast<double>(longest_route(*machine.topology)) * machine.hop_s;
  const auto letters_s = [&](double in, double out, Bytes bytes) {
    const double byte_s = static_cast<double>(wire_bytes(machine, bytes)) * machine.byte_s;
    return in * machine.receive_overhead_s + out * machine.send_overhead_s + (in + out) * byte_s + 2 * way_s +
           sum_s;
  };
  double total_s = 0;
  for (const ScaleRound& round : run.rounds)
    total_s += letters_s(round.most_in, round.most_out, scale_letter_bytes);
  const double degree = report.max_degree;
  const auto vector_s = [&](double bytes) { return sum_s + levels * bytes * machine.byte_s; };
  total_s += letters_s(degree, degree, sizeof(Bytes));          // ranks learn their sources
  total_s += vector_s(8 * degree) + vector_s(4 * degree);       // limits, and the example
  total_s += vector_s(static_cast<double>(run.num_phases));     // which colours are used
  total_s += letters_s(degree, degree, sizeof(Claim)) + sum_s;  // the check, and whether a rank found a fault
  return total_s;
}

}  // namespace nuice
