// SPDX-License-Identifier: BSD-3-Clause
// The table of plan options, and the functions that use it. An option is a member of PlanOptions and an entry
// here.
#include "exchange/plan/options.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>

#include "nuice/core/executor.hpp"

namespace nuice::mpi {
namespace {

using namespace nuice::options;
using O = PlanOptions;

constexpr std::array<std::string_view, 2> effort_names = {"estimate", "learn"};
constexpr std::array<std::string_view, 2> planning_names = {"everywhere", "distributed"};
// These words are refused as names of folders: NUICE_TRACE=1 is meant as a switch, but would make a folder
// named 1.
constexpr std::array<std::string_view, 8> switch_words = {"0",   "1",  "on",   "off",
                                                          "yes", "no", "true", "false"};
constexpr std::array<std::string_view, 3> device_names = {"auto", "direct", "staged"};

using Kind = std::variant<Text<O>, Flag<O>, Whole<O, int>, Whole<O, std::uint64_t>, Size<O>, Seconds<O>,
                          OneOf<O, Planning>, OneOf<O, DeviceWay>, OneOf<O, Effort>>;
using Row = Option<Kind>;

#define NUICE_AT(member) [](O& o) -> decltype((o.member)) { return o.member; }
const std::array option_table{
    Row{"scheduler", "which algorithm makes the schedule (nuice list), or auto",
        Text<O>{NUICE_AT(scheduler)}},
    Row{"executor", "how ranks execute the schedule (nuice list), or auto", Text<O>{NUICE_AT(executor)}},
    Row{"effort", "estimate: nothing is measured; learn: exchanges of auto try methods",
        OneOf<O, Effort>{NUICE_AT(effort), effort_names}},
    Row{"seed", "for schedulers that use random numbers", Whole<O, std::uint64_t>{NUICE_AT(seed), 0}},
    Row{"phase_cost", "cost of a phase in addition to its largest transfer, in bytes",
        Size<O>{NUICE_AT(phase_cost_bytes), 0, max_bytes}},
    Row{"prefer_pairs", "both messages of a pair in the same phase", Flag<O>{NUICE_AT(prefer_pairs)}},
    Row{"topology", "the network, for schedulers without link contention", Text<O>{NUICE_AT(topology)}},
    Row{"hosts", "which ranks share a host (a node): auto, ranks per host, or a list",
        Text<O>{NUICE_AT(hosts)}},
    Row{"combine", "aggregation: one message from host to host", Flag<O>{NUICE_AT(combine)}},
    Row{"combine.largest", "largest combined message, in bytes",
        Size<O>{NUICE_AT(combining.largest_bytes), 0, INT_MAX}},
    Row{"combine.leaders", "maximum number of ranks of a host that exchange combined messages; 0: all",
        Whole<O, int>{NUICE_AT(combining.leaders), 0, INT_MAX}},
    Row{"shared_memory", "messages inside a host bypass MPI and use shared memory",
        Flag<O>{NUICE_AT(shared_memory)}},
    Row{"shared_memory.largest", "largest such message, in bytes",
        Size<O>{NUICE_AT(sharing.largest_bytes), 0, INT_MAX}},
    Row{"once_per_host", "halos: a value crosses the network once for all ranks of a host that need it",
        Flag<O>{NUICE_AT(once_per_host)}},
    Row{"planning", "where the schedule is made: everywhere or distributed",
        OneOf<O, Planning>{NUICE_AT(planning), planning_names}},
    Row{"distributed.gather",
        "largest matrix (24 bytes a message) that planning=distributed gathers; 0: none",
        Size<O>{NUICE_AT(distributed.gather_bytes), 0, max_bytes}},
    Row{"check", "verify the schedule before use", Flag<O>{NUICE_AT(check)}},
    Row{"watchdog", "time without progress after which a wait fails; 0: never",
        Seconds<O>{NUICE_AT(watchdog_s)}},
    Row{"parts", "messages leave one by one, when the program says that they are ready",
        Flag<O>{NUICE_AT(parts)}},
    Row{"trace", "a folder into which every rank writes a trace of its exchanges (nuice trace)",
        Text<O>{NUICE_AT(trace)}},
    Row{"environment", "whether NUICE_OPTIONS of rank 0 overrides the program",
        Flag<O>{NUICE_AT(environment)}},
    Row{"async.max_sends", "maximum number of active sends; 0: no limit",
        Whole<O, int>{NUICE_AT(async.max_sends), 0, INT_MAX}},
    Row{"async.chunk", "bytes of a piece; 0: 32 KiB over TCP, else messages are whole",
        Size<O>{NUICE_AT(async.chunk_bytes), 0, INT_MAX}},
    Row{"depend.early", "bytes left when the next transfer on the route is released",
        Size<O>{NUICE_AT(depend.early_bytes), 1, INT_MAX}},
    Row{"device", "path of buffers in GPU memory: auto, direct or staged",
        OneOf<O, DeviceWay>{NUICE_AT(device.way), device_names}},
    Row{"device.chunk", "bytes copied from a GPU at a time",
        Size<O>{NUICE_AT(device.chunk_bytes), 16, INT_MAX}},
    Row{"auto.reuse", "number of expected uses of the plan",
        Whole<O, std::uint64_t>{NUICE_AT(automatic.reuse), 1}},
    Row{"auto.machine", "a machine by name or file", Text<O>{NUICE_AT(automatic.machine)}},
};
#undef NUICE_AT

std::span<const Row> rows() { return option_table; }

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

void check_executor(const PlanOptions& options) {
  const bool is_chosen_later = options.executor == auto_name;
  if (!is_chosen_later && !find_executor(options.executor).on_mpi)
    refuse("the executor " + options.executor + " does not run on MPI");
  const bool is_async = !is_chosen_later && find_executor(options.executor).pace == Pace::at_once;
  if (options.async.max_sends > 0 && !is_async)
    refuse("option async.max_sends is for executors that send all at once, as async does, not for " +
           options.executor);
}

}  // namespace

PlanOptions PlanOptions::parse(std::string_view text, const PlanOptions& defaults) {
  PlanOptions options = defaults;
  parse_options(text, rows(), options);
  return options;
}

std::string PlanOptions::text() const { return options_text(rows(), *this, PlanOptions{}); }

std::span<const PlanOptionName> plan_option_names() {
  static const auto names = [] {
    std::array<PlanOptionName, option_table.size()> all;
    for (std::size_t i = 0; i < option_table.size(); ++i)
      all[i] = {option_table[i].name, option_table[i].summary};
    return all;
  }();
  return names;
}

namespace {

/// Returns $NUICE_OPTIONS and the option that $NUICE_TRACE stands for.
std::string environment_text() {
  const char* const options = std::getenv("NUICE_OPTIONS");
  const char* const trace = std::getenv("NUICE_TRACE");
  std::string text = options == nullptr ? "" : options;
  if (trace != nullptr && *trace != '\0')
    text += (text.empty() ? "" : " ") + std::string("trace=\"") + trace + "\"";
  return text;
}

}  // namespace

OverriddenOptions with_environment(const Communicator& comm, const PlanOptions& mine) {
  OverriddenOptions all{mine,
                        text_of_rank_0(comm, comm.rank() == 0 && mine.environment ? environment_text() : "")};
  if (all.text.empty()) return all;
  all_or_none(comm, [&] {
    try {
      all.options = PlanOptions::parse(all.text, mine);
    } catch (const Error& error) {
      throw Error(error.code(), std::string("NUICE_OPTIONS: ") + error.what());
    }
  });
  return all;
}

void require_equal_values(const Communicator& comm, const NamedValues& mine) {
  std::string text;
  for (const auto& [name, value] : mine) text += value + '\0';
  const std::string first = text_of_rank_0(comm, text);
  all_or_none(comm, [&] {
    if (first == text) return;
    std::size_t begin = 0;
    for (const auto& [name, value] : mine) {
      const std::string theirs = first.substr(std::min(begin, first.size()), first.find('\0', begin) - begin);
      begin += theirs.size() + 1;
      if (theirs != value)
        throw Error(ErrorCode::mismatch, "option " + name + " differs: " + theirs + " on rank 0, " + value +
                                             " on rank " + std::to_string(comm.rank()));
    }
    throw Error(ErrorCode::mismatch,
                "the options of rank " + std::to_string(comm.rank()) + " are not those of rank 0");
  });
}

void require_equal_options(const Communicator& comm, const PlanOptions& mine) {
  NamedValues values;
  for (const Row& row : rows()) values.push_back({std::string(row.name), option_text(row, mine)});
  require_equal_values(comm, values);
}

void check_options(const PlanOptions& options) {
  for (const Row& row : rows())
    if (const std::string why = why_not_option(row, options); !why.empty())
      refuse("option " + std::string(row.name) + " " + why);
  if (options.combine && options.hosts.empty())
    refuse("option combine needs to know which ranks share a host: set the option hosts");
  if (options.shared_memory && options.hosts.empty())
    refuse("option shared_memory needs to know which ranks share a host: set the option hosts");
  if (std::ranges::find(switch_words, options.trace) != switch_words.end())
    refuse("option trace (NUICE_TRACE) names a folder and is not a switch: trace=" + options.trace +
           "; write trace=./" + options.trace + " for a folder of this name, or leave it out for no trace");
  check_executor(options);
}

}  // namespace nuice::mpi
