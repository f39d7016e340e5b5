// SPDX-License-Identifier: BSD-3-Clause
// Times the methods by which ranks learn which messages they will receive (004 table 3).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kit/json.hpp"
#include "kit/table.hpp"
#include "kit/timing.hpp"
#include "nuice/mpi/discover.hpp"
#include "nuice_bench/measure.hpp"
#include "nuice_bench/on_the_fly.hpp"
#include "nuice_bench/options.hpp"
#include "nuice_bench/payload.hpp"
#include "nuice_bench/report.hpp"

namespace nuice::bench {

/// The methods with active messages, and the methods with MPI only.
struct Askers {
  std::unique_ptr<AmSources> am = make_am_sources();
  mpi::Discoverer discoverer{MPI_COMM_WORLD};

  static bool is_am(std::string_view way) { return way.starts_with("am_"); }
  std::vector<std::string_view> ways() const {
    std::vector<std::string_view> ways = mpi::discovery_ways();
    if (!am) std::erase_if(ways, is_am);
    return ways;
  }
  std::vector<Partner> sources(std::span<const Partner> destinations, std::string_view way) {
    return is_am(way) ? am->sources(destinations, way) : discoverer.sources(destinations, way);
  }
  std::string transport_name() const { return am ? am->transport_name() : "no transport"; }
};

inline double time_once(Askers& askers, std::string_view way, const Payload& payload) {
  std::vector<Partner> sources;
  const double elapsed_s = kit::time_batch([&] { sources = askers.sources(payload.send.partners, way); });
  payload.check_sources(sources);
  return elapsed_s;
}

inline std::string json_line(const Setting& setting, std::string_view way, const ExchangeTime& time,
                             const std::string& transport) {
  return kit::line({{"matrix", setting.options.matrix},
                    {"ranks", setting.num_ranks},
                    {"messages", setting.input.num_messages},
                    {"max_degree", setting.input.bounds.max_degree},
                    {"receive_list", way},
                    {"transport", transport},
                    {"reps", setting.options.reps},
                    {"seconds_median", time.median_s},
                    {"seconds_min", time.min_s},
                    {"seconds_max", time.max_s},
                    {"verified", true},
                    {"mpi_library", setting.mpi_library}});
}

/// Collective. Times every method on the payload's matrix, interleaved, and compares each result with the
/// true column. Returns a table, or JSON lines. Throws Error mismatch on all ranks for a wrong result.
inline std::string time_receive_lists(const Setting& setting, const Payload& payload) {
  const Options& options = setting.options;
  Askers askers;
  const std::vector<std::string_view> ways = askers.ways();
  std::vector<std::vector<double>> samples_s(ways.size());
  kit::in_turns(options.warmup + options.reps, ways.size(), [&](int round, std::size_t way) {
    const double elapsed_s = time_once(askers, ways[way], payload);
    if (round >= options.warmup) samples_s[way].push_back(elapsed_s);
  });
  const std::string transport = askers.transport_name();
  std::string lines;
  kit::Table table("receive list|median us|min us|max us");
  for (std::size_t way = 0; way < ways.size(); ++way) {
    const ExchangeTime time = summarize(samples_s[way]);
    lines += json_line(setting, ways[way], time, transport);
    table.row("{}|{:.1f}|{:.1f}|{:.1f}", ways[way], 1e6 * time.median_s, 1e6 * time.min_s, 1e6 * time.max_s);
  }
  if (options.json) return lines;
  return fmt::format("{}: {} ranks, {} messages, max degree {}; active messages by {}\n{}", options.matrix,
                     setting.num_ranks, setting.input.num_messages, setting.input.bounds.max_degree,
                     transport, table.text());
}

}  // namespace nuice::bench
