// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_bench/receive_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <variant>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/mpi/discover.hpp"
#include "nuice_bench/measure.hpp"
#include "nuice_bench/methods.hpp"

namespace nuice::bench {
namespace {

using drs::mpi::Learn;
using mpi::Discovery;

/// By active messages, or by MPI alone.
struct Way {
  std::string_view name;
  std::variant<Learn, Discovery> how;
};
constexpr std::array<Way, 6> ways = {{{"concatenate", Learn::concatenate},
                                      {"count", Learn::count},
                                      {"quiesce", Learn::quiesce},
                                      {"mpi:gather", Discovery::gather},
                                      {"mpi:count", Discovery::count},
                                      {"mpi:consensus", Discovery::consensus}}};

struct Askers {
  drs::mpi::World world{MPI_COMM_WORLD};
  mpi::Discoverer discoverer{MPI_COMM_WORLD};

  std::vector<Partner> sources(std::span<const Partner> destinations, const Way& way) {
    const Learn* const learn = std::get_if<Learn>(&way.how);
    return learn != nullptr ? world.sources(destinations, *learn)
                            : discoverer.sources(destinations, std::get<Discovery>(way.how));
  }
};

double time_once(Askers& askers, const Way& way, const Payload& payload) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  const std::vector<Partner> sources = askers.sources(payload.send.partners, way);
  const double elapsed_s = mpi::max_over_ranks(MPI_Wtime() - begin_s);
  mpi::all_or_none(MPI_COMM_WORLD, [&] {
    if (!std::ranges::equal(sources, payload.receive.partners))
      throw Error(ErrorCode::mismatch, std::string(way.name) + ": rank " + std::to_string(payload.rank) +
                                           " has a wrong receive list");
  });
  return elapsed_s;
}

std::string json_line(const Setting& setting, const Way& way, const ExchangeTime& time,
                      const std::string& transport) {
  const nlohmann::ordered_json line = {{"matrix", setting.options.matrix},
                                       {"ranks", setting.num_ranks},
                                       {"messages", setting.input.num_messages},
                                       {"max_degree", setting.input.bounds.max_degree},
                                       {"receive_list", way.name},
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
  std::array<std::vector<double>, ways.size()> samples_s;
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
                         : fmt::format("{:<14}{:>10.1f}{:>10.1f}{:>10.1f}\n", ways[way].name,
                                       1e6 * time.median_s, 1e6 * time.min_s, 1e6 * time.max_s);
  }
  return text;
}

}  // namespace nuice::bench
