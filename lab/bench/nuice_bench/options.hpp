// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-bench.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nuice/mpi/drs.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::bench {

/// DRS_N: drs_n, drs_n:FORM or drs_n:FORM:TRANSPORT.
struct DrsSpec {
  drs::Options options;
  bool early = false;  // drs_n:early, with Options::drs_early_bytes
  std::string transport = "best";
};

/// A word of --schedulers: SCHEDULER, SCHEDULER:EXECUTOR, a form of DRS_N, or the name of a peer, which is what MPI
/// itself offers. The first two may end in @blind, @combine, @fields or @NAME=VALUE+NAME=VALUE...
struct MethodSpec {
  std::string word;
  bool is_peer = false;            // its name is the word
  std::string scheduler{};         // or broadcaster; empty for a peer and for DRS_N
  std::string executor = "async";  // unused for a peer
  std::optional<DrsSpec> drs{};    // only for DRS_N
  bool blind = false;              // without --topology and --hosts
  bool combine = false;            // with PlanOptions::combine
  bool fields = false;             // each message in four parts, bound as fields
  std::string further{};           // plan options as PlanOptions::parse() takes them
};

/// One message to many, instead of a matrix.
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
  mpi::PlanOptions plan = {};  // of planned methods, but for scheduler and executor
  Bytes drs_early_bytes = 16384;
  double drs_delay_us = 0;
  bool receive_lists = false;
  bool json = false;
};

/// What is typed, before interpret().
struct Words {
  std::vector<std::string> methods;
  std::string executor;
  BroadcastProblem broadcast;
  std::vector<Rank> group;
};
void add_options(CLI::App& app, Options& options, Words& words);

/// Of a parsed command line: the problem, and the methods that fit it. Throws Error invalid_argument, CLI::RequiredError.
void interpret(const CLI::App& app, const Words& words, Options& options);

}  // namespace nuice::bench
