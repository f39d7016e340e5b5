// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_bench/receive_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/mpi/discover.hpp"
#include "nuice_bench/measure.hpp"
#include "nuice_bench/methods.hpp"

namespace nuice::bench {
namespace {

/// Those by active messages through a World, the others by MPI alone.
struct Askers {
  drs::mpi::World world{MPI_COMM_WORLD};
  mpi::Discoverer discoverer{MPI_COMM_WORLD};

  std::vector<Partner> sources(std::span<const Partner> destinations, std::string_view way) {
    return way.starts_with("am_") ? world.sources(destinations, way) : discoverer.sources(destinations, way);
  }
};

double time_once(Askers& askers, std::string_view way, const Payload& payload) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  const std::vector<Partner> sources = askers.sources(payload.send.partners, way);
  const double elapsed_s = mpi::max_over_ranks(MPI_Wtime() - begin_s);
  mpi::all_or_none(MPI_COMM_WORLD, [&] {
    if (!std::ranges::equal(sources, payload.receive.partners))
      throw Error(ErrorCode::mismatch,
                  std::string(way) + ": rank " + std::to_string(payload.rank) + " has a wrong receive list");
  });
  return elapsed_s;
}

std::string json_line(const Setting& setting, std::string_view way, const ExchangeTime& time,
                      const std::string& transport) {
  const nlohmann::ordered_json line = {{"matrix", setting.options.matrix},
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
                                       {"mpi_library", setting.mpi_library}};
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string time_receive_lists(const Setting& setting, const Payload& payload) {
  const Options& options = setting.options;
  Askers askers;
  const std::vector<std::string_view> ways = mpi::discovery_ways();
  std::vector<std::vector<double>> samples_s(ways.size());
  for (int round = 0; round < options.warmup + options.reps; ++round)
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t way = (turn + static_cast<std::size_t>(round)) % ways.size();
      const double elapsed_s = time_once(askers, ways[way], payload);
      if (round >= options.warmup) samples_s[way].push_back(elapsed_s);
    }
  std::string text;
  if (!options.json)
    text = fmt::format(
        "{}: {} ranks, {} messages, max degree {}; active messages by {}\n{:<14}{:>10}{:>10}{:>10}\n",
        options.matrix, setting.num_ranks, setting.input.num_messages, setting.input.bounds.max_degree,
        askers.world.transport_name(), "receive list", "median us", "min us", "max us");
  for (std::size_t way = 0; way < ways.size(); ++way) {
    const ExchangeTime time = summarize(std::move(samples_s[way]));
    text += options.json ? json_line(setting, ways[way], time, askers.world.transport_name())
                         : fmt::format("{:<14}{:>10.1f}{:>10.1f}{:>10.1f}\n", ways[way], 1e6 * time.median_s,
                                       1e6 * time.min_s, 1e6 * time.max_s);
  }
  return text;
}

}  // namespace nuice::bench
