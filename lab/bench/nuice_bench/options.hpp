// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-bench.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nuice/mpi/drs.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::bench {

enum class Peer { alltoallv, neighbor, neighbor_init, isend, persistent, nbx, petscsf, bcast };

/// DRS_N: drs_n, drs_n:FORM or drs_n:FORM:TRANSPORT.
struct DrsSpec {
  drs::Options options;
  bool early = false;  // drs_n:early, with Options::drs_early_bytes
  std::string transport = "best";
};

/// A word of --schedulers: SCHEDULER, SCHEDULER:EXECUTOR, a form of DRS_N, or the name of a peer, which is what MPI
/// itself offers. The first two may end in @blind, @combine or @NAME=VALUE+NAME=VALUE...
struct MethodSpec {
  std::string word;
  std::optional<Peer> peer;
  std::string scheduler{};         // or broadcaster; empty for a peer and for DRS_N
  std::string executor = "async";  // unused for a peer
  std::optional<DrsSpec> drs{};    // only for DRS_N
  bool blind = false;              // without --topology and --hosts
  bool combine = false;            // with PlanOptions::combine
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
  int batch = 1;  // exchanges in one timed repetition
  std::uint64_t seed = 0;
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  int max_sends_in_flight = 0;
  Bytes chunk_bytes = mpi::CreditOptions{}.chunk_bytes;
  Bytes window_bytes = mpi::CreditOptions{}.window_bytes;
  int window_senders = mpi::CreditOptions{}.window_senders;
  std::string topology = {};
  std::string hosts = "auto";
  std::uint64_t reuse = mpi::AutoOptions{}.reuse;  // this and the next three: scheduler auto
  std::string machine = {};
  std::string wisdom = {};
  bool measure = false;
  Bytes drs_early_bytes = 16384;
  double drs_delay_us = 0;
  bool receive_lists = false;
  bool json = false;
};

/// What the command line asks for: options, or nothing but a text and an exit code (--help, or an error).
struct Parsed {
  std::optional<Options> options;
  std::string out;
  std::string err;
  int exit_code = 0;
};

/// Never throws for bad input, and prints nothing: every rank parses, one prints.
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace nuice::bench
