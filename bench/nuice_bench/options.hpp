// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-bench.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kit/command_line.hpp"
#include "kit/errors.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/plan.hpp"
#include "nuice/plan/broadcaster.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::bench {

/// DRS_N: drs_n, drs_n:FORM or drs_n:FORM:TRANSPORT.
struct DrsSpec {
  std::string form = "refuse";  // rma, list or early, with Options::drs_early_bytes
  std::string transport = "best";
};

/// A word of --schedulers: SCHEDULER, SCHEDULER:EXECUTOR, a form of DRS_N, or the name of a peer, which is a
/// method of MPI. The first two may end in @blind, @combine, @fields or @NAME=VALUE+NAME=VALUE...
struct MethodSpec {
  std::string word;
  bool is_peer = false;            // the word is the peer's name
  std::string scheduler{};         // or broadcaster; empty for a peer and for DRS_N
  std::string executor = "async";  // unused for a peer
  std::optional<DrsSpec> drs{};    // only for DRS_N
  bool blind = false;              // without --topology and --hosts
  bool combine = false;            // with PlanOptions::combine
  bool fields = false;             // each message is bound as four fields
  std::string further{};           // plan options for PlanOptions::parse()
};

/// A broadcast instead of a matrix.
struct BroadcastProblem {
  Bytes bytes = 0;
  Rank root = 0;
  std::optional<std::vector<Rank>> group;  // nothing: all ranks
};

struct Options {
  std::string matrix;                         // empty for a broadcast
  std::optional<BroadcastProblem> broadcast;  // nothing for a matrix
  std::vector<MethodSpec> methods;
  int reps = 20;
  int warmup = 2;
  int settle = 0;
  int batch = 1;               // exchanges in one timed repetition
  mpi::PlanOptions plan = {};  // of planned methods, except scheduler and executor
  Bytes drs_early_bytes = 16384;
  double drs_delay_us = 0;
  bool receive_lists = false;
  bool json = false;
};

/// Returns the transports of active messages for DRS_N; none if nuice-bench was built without them.
std::vector<std::string> drs_transports();

/// Returns the names of MPI's methods in this build.
std::vector<std::string> peer_names(bool is_broadcast);

/// The command line before interpret().
struct Words {
  std::vector<std::string> methods;
  std::string executor;
  BroadcastProblem broadcast;
  std::vector<Rank> group;
};

inline const std::vector<std::string> matrix_methods = {"ac",       "lp",        "rs_n",
                                                        "coloring", "alltoallv", "neighbor"};
inline const std::vector<std::string> broadcast_methods = {"lib", "reb", "reb:async", "bcast"};
inline constexpr int many = 1'000'000;

inline std::string joined(const std::vector<std::string>& words, std::string_view between = ", ") {
  return fmt::format("{}", fmt::join(words, between));
}

inline std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

/// Throws Error invalid_argument, which lists the known names, if the name is unknown.
inline void check_name(const std::string& name, bool is_broadcast) {
  try {
    if (is_broadcast) (void)make_broadcast(name, 1, 0);
    if (!is_broadcast) kit::require_scheduler(name);
  } catch (const Error& error) {
    throw Error(error.code(),
                std::string(error.what()) +
                    (is_broadcast ? "; or MPI's own: " : "; or auto, or drs_n, or one of MPI's own: ") +
                    joined(peer_names(is_broadcast)));
  }
}

/// Returns the executor's name. AC has a single phase in which a rank sends everything, and the papers mean
/// it without an order. Throws Error if plans on MPI do not support the executor.
inline std::string known_executor(const std::string& name) {
  if (name != "auto" && !find_executor(name).on_mpi) kit::refuse("the executor {} does not run on MPI", name);
  return name;
}

inline std::string usual_executor(std::string_view scheduler) {
  if (scheduler == "auto") return "auto";
  return scheduler == "ac" ? "async" : "phased";
}

/// Parses drs_n, drs_n:FORM or drs_n:FORM:TRANSPORT.
inline DrsSpec parse_drs(const std::string& word) {
  const std::vector<std::string> parts = split(word, ':');
  DrsSpec spec;
  if (parts.size() > 1) spec.form = parts[1];
  const std::vector<std::string> forms = {"refuse", "rma", "list", "early"};
  if (std::ranges::find(forms, spec.form) == forms.end())
    kit::refuse("unknown form \"{}\" in {}; known: {}", spec.form, word, joined(forms));
  if (parts.size() > 2) spec.transport = word.substr(parts[0].size() + spec.form.size() + 2);
  const std::vector<std::string> known = drs_transports();
  if (known.empty()) kit::refuse("nuice-bench was built without active messages, which {} needs", word);
  if (std::ranges::find(known, spec.transport) == known.end())
    kit::refuse("unknown transport \"{}\" in {}; known: {}", spec.transport, word, joined(known));
  return spec;
}

/// Returns the part of a word after the @; empty without one.
inline std::string form_of(const std::string& word) {
  const std::size_t at = word.find('@');
  if (at == std::string::npos) return {};
  const std::string form = word.substr(at + 1);
  if (form != "blind" && form != "combine" && form != "fields" && form.find('=') == std::string::npos)
    kit::refuse("unknown form \"{}\" in {}; known: blind, combine, fields, NAME=VALUE", form, word);
  return form;
}

/// Turns NAME=VALUE+NAME=VALUE... into a string of plan options.
inline std::string further_options(std::string form) {
  if (form.find('=') == std::string::npos) return {};
  std::ranges::replace(form, '+', ' ');
  (void)mpi::PlanOptions::parse(form);
  return form;
}

inline MethodSpec parse_method(const std::string& word, const std::string& default_executor,
                               bool is_broadcast) {
  const auto names = peer_names(is_broadcast);
  if (std::ranges::find(names, word) != names.end()) return {word, true, {}, {}, {}};
  if (!is_broadcast && (word == "drs_n" || word.starts_with("drs_n:")))
    return {word, false, {}, "async", parse_drs(word)};
  const std::string form = form_of(word);
  const std::string planned = form.empty() ? word : word.substr(0, word.size() - form.size() - 1);
  const std::size_t colon = planned.find(':');
  const std::string scheduler = planned.substr(0, colon);
  check_name(scheduler, is_broadcast);
  const std::string executor = colon == std::string::npos ? default_executor : planned.substr(colon + 1);
  MethodSpec spec{word, false, scheduler};
  spec.blind = form == "blind";
  spec.combine = form == "combine";
  spec.fields = form == "fields";
  spec.further = further_options(form);
  const bool is_usual = executor.empty() && colon == std::string::npos;
  spec.executor = is_usual ? usual_executor(scheduler) : known_executor(executor);
  return spec;
}

inline void add_problem_options(kit::App& app, Options& options, Words& words) {
  const kit::Option matrix =
      kit::add(app, "--matrix", options.matrix, "communication matrix, Matrix Market, value = bytes");
  const kit::Option bytes =
      kit::add(app, "--broadcast", words.broadcast.bytes, "size in bytes of one message, instead of a matrix",
               kit::range(Bytes{0}, max_bytes))
          .hide_default()
          .excludes(matrix);
  kit::add(app, "--root", words.broadcast.root, "rank that has the message").needs(bytes);
  kit::add(app, "--group", words.group, "ranks that need the message, separated by commas; all if not given")
      .needs(bytes);
}

inline void add_method_options(kit::App& app, Options& options, Words& words) {
  kit::add(
      app, "--schedulers", words.methods,
      "methods to compare, separated by commas; by default " + joined(matrix_methods, ",") +
          "\nplans: SCHEDULER, SCHEDULER:EXECUTOR (async, phased, pairwise, depend), or auto, the adviser's "
          "choice; SCHEDULER:EXECUTOR@blind ignores hosts and --topology, ...@combine combines messages "
          "between hosts, ...@fields binds four fields instead of one buffer per message, "
          "...@async.max_sends=4+hosts=1 sets options of the plan"
          "\nMPI: alltoallv, neighbor, neighbor_init (MPI 4), isend, persistent, nbx (receivers do not know "
          "their senders)"
          "\nwithout a plan: kept (alltoallv()), sparse (sparse_alltoallv()), bound (an Exchanger)"
          "\npublished forwarding methods in plain MPI: two_phase_bruck, tuna_flat, tuna_hosts"
          "\npetscsf, if built with PETSc"
          "\nscheduling on the fly: drs_n, drs_n:rma, drs_n:list, drs_n:early; drs_n:refuse:TRANSPORT, "
          "drs_n:list:TRANSPORT (mpi, shm)"
          "\nbroadcasts: BROADCASTER, BROADCASTER:EXECUTOR (async, phased), or bcast of MPI; by default " +
          joined(broadcast_methods, ","));
  kit::add(app, "--executor", words.executor,
           "executor of schedulers without one; by default async for ac and phased for the others");
  kit::add(app, "--max-sends-in-flight", options.plan.async.max_sends,
           "executor async: maximum number of active sends per rank, which are then synchronous; 0: no limit",
           kit::range(0, many));
}

inline void add_repetition_options(kit::App& app, Options& options) {
  kit::add(app, "--reps", options.reps, "timed repetitions", kit::range(1, many));
  kit::add(app, "--settle", options.settle,
           "untimed exchanges before each timed one, by the same method, because TCP senders stay slow for a "
           "while "
           "after losses of the previous method",
           kit::range(0, many));
  kit::add(app, "--warmup", options.warmup, "repetitions before the timed ones, verified but not timed",
           kit::range(0, many));
  kit::add(
      app, "--batch", options.batch,
      "exchanges per repetition, by which its time is divided; for exchanges that are short compared with "
      "clocks and barriers",
      kit::range(1, many));
}

inline void add_planning_options(kit::App& app, Options& options) {
  kit::add(app, "--topology", options.plan.topology,
           "network, for schedulers that avoid link contention: torus:4x4, ...");
  kit::add(app, "--hosts", options.plan.hosts,
           "which ranks share a host and its port: auto, ranks per host (4), or every rank's (0,0,1,1)");
  kit::add(app, "--machine", options.plan.automatic.machine,
           "auto: machine of the prediction, a shipped one or FILE.toml; by default a calibrated one");
  kit::add(app, "--reuse", options.plan.automatic.reuse, "auto: expected number of uses of the plan",
           kit::range(std::uint64_t{1}, std::uint64_t{1} << 53));
  kit::add(app, "--seed", options.plan.seed, "seed of the schedulers that use one");
  kit::add(
      app, "--phase-cost-bytes", options.plan.phase_cost_bytes,
      "cost of a phase in addition to its largest transfer, in bytes that could be sent meanwhile; kpbs, "
      "bruck and distributed_coloring use it",
      kit::range(Bytes{0}, max_bytes));
  kit::add(app, "--drs-early-bytes", options.drs_early_bytes,
           "drs_n:early: the next message is granted when this number of bytes is left",
           kit::range(Bytes{0}, max_bytes));
  kit::add(app, "--drs-delay-us", options.drs_delay_us,
           "drs_n and drs_n:rma: microseconds before a receiver that refused is asked again",
           kit::range(0.0, 1e6));
}

inline void add_options(kit::App& app, Options& options, Words& words) {
  add_problem_options(app, options, words);
  add_method_options(app, options, words);
  add_repetition_options(app, options);
  add_planning_options(app, options);
  kit::add_flag(app, "--receive-lists", options.receive_lists,
                "time the methods of learning the sources (docs/reference/exchange.md) instead of exchanges");
  kit::add_json(app, options.json);
}

/// Derives the problem and the methods that fit it from the parsed command line. Throws Error
/// invalid_argument, and the error of App::miss().
inline void interpret(const kit::App& app, const Words& words, Options& options) {
  const bool is_broadcast = app.has("--broadcast");
  if (!is_broadcast && !app.has("--matrix")) app.miss("--matrix or --broadcast");
  if (is_broadcast) options.broadcast = words.broadcast;
  if (app.has("--group")) options.broadcast->group = words.group;
  const auto& usual = is_broadcast ? broadcast_methods : matrix_methods;
  for (const std::string& word : words.methods.empty() ? usual : words.methods)
    options.methods.push_back(parse_method(word, words.executor, is_broadcast));
}

}  // namespace nuice::bench
