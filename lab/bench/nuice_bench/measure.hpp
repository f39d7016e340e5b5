// SPDX-License-Identifier: BSD-3-Clause
// Runs the methods in turns and times them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nuice_bench/methods.hpp"

namespace nuice::bench {

/// Over the repetitions, of the maximum over the ranks.
struct ExchangeTime {
  double median_s = 0;
  double min_s = 0;
  double max_s = 0;
  double p95_s = 0;  // kit::percentile
};

struct Result : Preparation {
  MethodSpec spec;
  std::string refused;  // why this method cannot carry this matrix; the rest is then without meaning
  ExchangeTime exchange;
  std::vector<double> all_s;    // of every exchange but those of --settle, warm-up included, in order
  std::vector<std::string> by;  // which method carried them out, where several are tried; else empty
  std::vector<double> begin_s;  // of these, by this host's monotonic clock: what else was seen meanwhile
  std::optional<mpi::ExchangeInfo> learnt;  // planned methods only
  std::optional<double> sent_again;         // TCP segments of all hosts, per exchange
  std::optional<Asking> asking;             // DRS_N only
};

/// Requires a sample.
ExchangeTime summarize(const std::vector<double>& samples_s);

/// Collective. One result per method, in their order. Before every repetition the receive buffers are
/// poisoned, after it every byte is verified, both outside the time. The methods take turns, so that noise
/// hits all alike, and every round begins with another method.
/// Throws Error mismatch, on all ranks, naming method, pair and byte, if a payload arrives damaged.
std::vector<Result> measure(const Options& options, Payload& payload);

}  // namespace nuice::bench
