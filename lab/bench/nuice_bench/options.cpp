// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_bench/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <climits>
#include <span>
#include <sstream>
#include <utility>

#include "nuice/core/error.hpp"
#include "nuice/plan/broadcaster.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::bench {
namespace {

constexpr int usage_error = 2;
constexpr std::string_view matrix_methods = "ac,lp,rs_n,coloring,alltoallv,neighbor";
constexpr std::string_view broadcast_methods = "lib,reb,reb:async,bcast";

struct PeerName {
  std::string_view name;
  Peer peer;
};
constexpr auto matrix_peers = std::to_array<PeerName>({
    {"alltoallv", Peer::alltoallv},
    {"neighbor", Peer::neighbor},
#ifdef NUICE_BENCH_NEIGHBOR_INIT
    {"neighbor_init", Peer::neighbor_init},
#endif
    {"isend", Peer::isend},
    {"persistent", Peer::persistent},
    {"nbx", Peer::nbx},
#ifdef NUICE_BENCH_PETSC
    {"petscsf", Peer::petscsf},
#endif
});
constexpr std::array<PeerName, 1> broadcast_peers = {{{"bcast", Peer::bcast}}};

std::span<const PeerName> peers(bool is_broadcast) {
  return is_broadcast ? std::span<const PeerName>(broadcast_peers) : std::span<const PeerName>(matrix_peers);
}

/// Throws Error invalid_argument that lists the known names.
void check_name(const std::string& name, bool is_broadcast) {
  std::string ours;
  for (const PeerName& row : peers(is_broadcast)) ours += (ours.empty() ? "" : ", ") + std::string(row.name);
  try {
    if (is_broadcast) (void)make_broadcast(name, 1, 0);
    if (!is_broadcast && name != "auto") (void)find_scheduler(name);
  } catch (const Error& error) {
    throw Error(error.code(),
                std::string(error.what()) +
                    (is_broadcast ? "; or MPI's own: " : "; or auto, or drs_n, or one of MPI's own: ") +
                    ours);
  }
}

/// AC has a single phase in which a rank sends everything: only without order it is what the papers mean.
/// Throws Error for one that plans on MPI do not have.
std::string known_executor(const std::string& name) {
  if (name != "auto" && !find_executor(name).on_mpi)
    throw Error(ErrorCode::invalid_argument, "the executor " + name + " does not run on MPI");
  return name;
}

std::string usual_executor(std::string_view scheduler) {
  if (scheduler == "auto") return "auto";
  return scheduler == "ac" ? "async" : "phased";
}

/// drs_n, drs_n:FORM, drs_n:FORM:TRANSPORT.
DrsSpec parse_drs(const std::string& word) {
  const std::size_t form_at = word.find(':');
  const std::size_t transport_at = form_at == std::string::npos ? form_at : word.find(':', form_at + 1);
  const std::string form =
      form_at == std::string::npos ? "refuse" : word.substr(form_at + 1, transport_at - form_at - 1);
  DrsSpec spec;
  if (form == "rma") {
    spec.options.lock = drs::Lock::rma;
  } else if (form == "list" || form == "early") {
    spec.options.when_busy = drs::WhenBusy::list;
    spec.early = form == "early";
  } else if (form != "refuse") {
    throw Error(ErrorCode::invalid_argument,
                "unknown form \"" + form + "\" in " + word + "; known: refuse, rma, list, early");
  }
  if (transport_at != std::string::npos) spec.transport = word.substr(transport_at + 1);
  const std::vector<std::string> known = am::mpi::transports();
  if (spec.transport != "best" && std::ranges::find(known, spec.transport) == known.end()) {
    std::string names = "best";
    for (const std::string& name : known) names += ", " + name;
    throw Error(ErrorCode::invalid_argument,
                "unknown transport \"" + spec.transport + "\" in " + word + "; known: " + names);
  }
  return spec;
}

/// What stands behind the @ of a word, empty without one.
std::string form_of(const std::string& word) {
  const std::size_t at = word.find('@');
  if (at == std::string::npos) return {};
  const std::string form = word.substr(at + 1);
  if (form != "blind" && form != "combine" && form.find('=') == std::string::npos)
    throw Error(ErrorCode::invalid_argument,
                "unknown form \"" + form + "\" in " + word + "; known: blind, combine, NAME=VALUE");
  return form;
}

/// NAME=VALUE+NAME=VALUE... as a text of plan options, which are known by name.
std::string further_options(std::string form) {
  if (form.find('=') == std::string::npos) return {};
  std::ranges::replace(form, '+', ' ');
  (void)mpi::PlanOptions::parse(form);
  return form;
}

MethodSpec parse_method(const std::string& word, const std::string& default_executor, bool is_broadcast) {
  for (const PeerName& row : peers(is_broadcast))
    if (row.name == word) return {word, row.peer, {}, {}, {}};
  if (!is_broadcast && (word == "drs_n" || word.starts_with("drs_n:")))
    return {word, std::nullopt, {}, "async", parse_drs(word)};
  const std::string form = form_of(word);
  const std::string planned = form.empty() ? word : word.substr(0, word.size() - form.size() - 1);
  const std::size_t colon = planned.find(':');
  const std::string scheduler = planned.substr(0, colon);
  check_name(scheduler, is_broadcast);
  const std::string executor = colon == std::string::npos ? default_executor : planned.substr(colon + 1);
  MethodSpec spec{word, std::nullopt, scheduler};
  spec.blind = form == "blind";
  spec.combine = form == "combine";
  spec.further = further_options(form);
  const bool is_usual = executor.empty() && colon == std::string::npos;
  spec.executor = is_usual ? usual_executor(scheduler) : known_executor(executor);
  return spec;
}

void add_problem_options(CLI::App& app, Options& options, BroadcastProblem& broadcast,
                         std::vector<Rank>& group) {
  auto* const matrix =
      app.add_option("--matrix", options.matrix, "communication matrix, Matrix Market, value = bytes");
  auto* const bytes =
      app.add_option("--broadcast", broadcast.bytes, "instead of a matrix: one message of so many bytes")
          ->check(CLI::Range(Bytes{0}, max_bytes))
          ->excludes(matrix);
  app.add_option("--root", broadcast.root, "rank that has the message to broadcast")
      ->needs(bytes)
      ->capture_default_str();
  app.add_option("--group", group, "ranks that need it, separated by commas; all if not given")
      ->delimiter(',')
      ->needs(bytes);
}

/// Exactly one problem, and the methods that fit it.
void settle(const CLI::App& app, Options& options, BroadcastProblem broadcast,
            const std::vector<Rank>& group) {
  const bool is_broadcast = app.count("--broadcast") > 0;
  if (!is_broadcast && app.count("--matrix") == 0) throw CLI::RequiredError("--matrix or --broadcast");
  if (!is_broadcast) return;
  if (app.count("--group") > 0) broadcast.group = group;
  options.broadcast = std::move(broadcast);
}

/// If asked for, also where the command line cannot be parsed.
std::string error_object(int argc, const char* const* argv, ErrorCode code, std::string_view message) {
  const bool json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
  return json ? error_json(code, message) : "";
}

void add_method_option(CLI::App& app, std::vector<std::string>& words) {
  app.add_option(
         "--schedulers", words,
         "what to compare, separated by commas: SCHEDULER or SCHEDULER:EXECUTOR (async, phased, barrier, "
         "pairwise, credit), auto, which is what the adviser chooses, and alltoallv, neighbor, neighbor_init "
         "(MPI 4), "
         "isend, persistent, nbx (receivers do not know their senders), which are MPI's own, petscsf (if "
         "built "
         "with PETSc), and scheduling on the fly: drs_n, "
         "drs_n:rma, drs_n:list, drs_n:early; drs_n:refuse:TRANSPORT, drs_n:list:TRANSPORT (mpi, shm); by "
         "default " +
             std::string(matrix_methods) +
             ". SCHEDULER:EXECUTOR@blind takes every rank for a host and looks at no --topology, ...@combine "
             "combines what "
             "one host "
             "sends another, ...@credit.window=64KiB+credit.adapt=false sets options of the plan. For a "
             "broadcast: BROADCASTER or BROADCASTER:EXECUTOR (async, phased), and "
             "bcast, MPI's own; "
             "by default " +
             std::string(broadcast_methods))
      ->delimiter(',');
}

void add_repetition_options(CLI::App& app, Options& options) {
  app.add_option("--reps", options.reps, "timed repetitions")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--settle", options.settle,
                 "untimed exchanges before each timed one, by the same method: TCP senders that lost packets "
                 "stay slow "
                 "for a while, and the next method would pay for it")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--warmup", options.warmup, "repetitions before that, verified but not timed")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--batch", options.batch,
                 "exchanges in one repetition, whose time is divided by it: for short ones, which clocks and "
                 "barriers "
                 "would hide")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

void add_executor_options(CLI::App& app, Options& options, std::string& executor) {
  app.add_option("--executor", executor,
                 "for schedulers that name none; by default async for ac and phased for the others");
  app.add_option("--max-sends-in-flight", options.max_sends_in_flight,
                 "executor async only: limit for each rank, with synchronous sends; 0 for none")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--chunk-bytes", options.chunk_bytes,
                 "executor credit only: messages travel in such chunks at most")
      ->check(CLI::Range(Bytes{1}, Bytes{INT_MAX}))
      ->capture_default_str();
  app.add_option("--window-bytes", options.window_bytes,
                 "executor credit only: at most so many are on their way to a rank")
      ->check(CLI::Range(Bytes{1}, max_bytes))
      ->capture_default_str();
  app.add_option("--window-senders", options.window_senders,
                 "executor credit only: so many senders share a rank's window")
      ->check(CLI::Range(1, INT_MAX))
      ->capture_default_str();
}

void add_planning_options(CLI::App& app, Options& options) {
  app.add_option("--topology", options.topology,
                 "network, for schedulers that avoid link contention: torus:4x4, ...");
  app.add_option(
      "--hosts", options.hosts,
      "which ranks share a host and its port: auto, or so many on each (4), or every rank's (0,0,1,1)");
  app.add_option("--machine", options.machine,
                 "auto: what to predict with, a shipped machine or FILE.toml; by default a calibrated one");
  app.add_option("--reuse", options.reuse, "auto: how often the plan would be used")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53))
      ->capture_default_str();
  app.add_flag("--measure", options.measure, "auto: time the best few candidates while planning");
  app.add_option("--wisdom", options.wisdom,
                 "auto: file of measured choices; by default $NUICE_WISDOM or ~/.cache/nuice/wisdom; none");
  app.add_option("--seed", options.seed, "of the schedulers that use one")->capture_default_str();
  app.add_option("--phase-cost-bytes", options.phase_cost_bytes,
                 "what a phase costs beside its largest transfer, as bytes that could be sent meanwhile; "
                 "kpbs and bruck "
                 "look at it")
      ->check(CLI::Range(Bytes{0}, max_bytes))
      ->capture_default_str();
}

void add_drs_options(CLI::App& app, Options& options) {
  app.add_option("--drs-early-bytes", options.drs_early_bytes,
                 "drs_n:early only: the next is granted when so many bytes are still to come")
      ->check(CLI::Range(Bytes{0}, max_bytes))
      ->capture_default_str();
  app.add_option("--drs-delay-us", options.drs_delay_us,
                 "drs_n and drs_n:rma: a receiver that refused is not asked again for so long")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_flag("--receive-lists", options.receive_lists,
               "time the ways to learn who sends what (docs/how-to/exchange.md) instead of exchanges");
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  Options options;
  BroadcastProblem broadcast;
  std::vector<Rank> group;
  std::vector<std::string> words;
  std::string executor;
  CLI::App app{
      "Times planned exchanges beside what MPI offers, on the matrix in a file, and verifies every byte.\n"
      "Start with as many ranks as the matrix has: mpiexec -n N nuice-bench --matrix FILE.mtx\n"
      "Broadcasts are timed instead with: mpiexec -n N nuice-bench --broadcast BYTES",
      "nuice-bench"};
  add_problem_options(app, options, broadcast, group);
  add_method_option(app, words);
  add_repetition_options(app, options);
  add_executor_options(app, options, executor);
  add_planning_options(app, options);
  add_drs_options(app, options);
  app.add_flag("--json", options.json, "one JSON object per method and line, nothing else on stdout");
  try {
    app.parse(argc, argv);
    settle(app, options, std::move(broadcast), group);
    const bool is_broadcast = options.broadcast.has_value();
    if (words.empty())
      words = CLI::detail::split(std::string(is_broadcast ? broadcast_methods : matrix_methods), ',');
    for (const std::string& word : words)
      options.methods.push_back(parse_method(word, executor, is_broadcast));
    return {options, {}, {}, 0};
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    if (code != 0) out << error_object(argc, argv, ErrorCode::invalid_argument, error.what());
    return {std::nullopt, out.str(), err.str(), code == 0 ? 0 : usage_error};
  } catch (const Error& error) {
    return {std::nullopt, error_object(argc, argv, error.code(), error.what()),
            "nuice-bench: " + std::string(error.what()) + "\n", usage_error};
  }
}

}  // namespace nuice::bench
