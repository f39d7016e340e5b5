// SPDX-License-Identifier: BSD-3-Clause
// Runs the methods interleaved and times them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "kit/program.hpp"
#include "kit/timing.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice_bench/methods.hpp"
#include "nuice_bench/tcp.hpp"

namespace nuice::bench {

/// Statistics over the repetitions of the maximum over the ranks.
struct ExchangeTime {
  double median_s = 0;
  double min_s = 0;
  double max_s = 0;
  double p95_s = 0;  // kit::percentile
};

struct Result : Preparation {
  MethodSpec spec;
  std::string refused;  // why the method does not support this matrix; the other members are then meaningless
  ExchangeTime exchange;
  std::vector<double> all_s;                // of every exchange in order, with warm-up, without --settle
  std::vector<std::string> by;              // the method of each exchange if several are tried; else empty
  std::vector<double> begin_s;              // begin of each exchange, by this host's monotonic clock
  std::optional<mpi::ExchangeInfo> learnt;  // planned methods only
  std::optional<double> sent_again;         // TCP segments of all hosts, per exchange
  std::optional<Asking> asking;             // DRS_N only
};

struct Ready {
  std::unique_ptr<Method> method;
  std::size_t result;  // index
  std::vector<double> samples_s;
  std::optional<std::int64_t> sent_again = 0;
};

/// Shows progress on a terminal; silent elsewhere.
class Progress {
 public:
  explicit Progress(int rounds)
      : rounds_(rounds), visible_(mpi::world_rank() == 0 && isatty(STDERR_FILENO) != 0) {}
  void round(int round) const {
    if (visible_) std::fprintf(stderr, "\rround %d of %d ", round, rounds_);
  }
  ~Progress() {
    if (visible_) std::fprintf(stderr, "\r%*s\r", 40, "");
  }

 private:
  int rounds_;
  bool visible_;
};

/// Makes a method ready to run. Its planning time is the smallest of several trials, because the first trial
/// also sets up MPI's connections.
inline std::unique_ptr<Method> make_ready(const MethodSpec& spec, const Options& options, Payload& payload) {
  constexpr int trials = 3;
  auto method = make_method(spec, options, payload);
  PlanningTime least = method->planning;
  for (int trial = 1; trial < trials; ++trial) {
    method.reset();
    method = make_method(spec, options, payload);
    if (method->planning.total_s < least.total_s) least = method->planning;
  }
  method->planning = least;
  return method;
}

/// Returns whether the method is MPI's; false for NUICE's calls with similar names.
inline bool is_of_mpi(const MethodSpec& spec) {
  return spec.is_peer && spec.word != "sparse" && spec.word != "kept" && spec.word != "bound";
}

/// Collective. Returns whether all ranks share a host.
inline bool are_on_one_host() {
  int all = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  return kit::ranks_of_host().count == all;
}

using Takes = std::function<bool(const MethodSpec&)>;

/// Makes some methods ready. A method that does not support the matrix gets a reason instead.
inline std::vector<Ready> prepare(const Options& options, Payload& payload, const Takes& takes,
                                  std::vector<Result>& results) {
  std::vector<Ready> all_ready;
  for (std::size_t i = 0; i < results.size(); ++i) {
    Result& result = results[i];
    const MethodSpec& spec = result.spec;
    if (!takes(spec)) continue;
    try {
      auto method = make_ready(spec, options, payload);
      static_cast<Preparation&>(result) = *method;
      all_ready.push_back({std::move(method), i, {}});
    } catch (const Error& error) {
      const bool expected = error.code() == ErrorCode::not_applicable || error.code() == ErrorCode::limit;
      if (!expected) throw Error(error.code(), spec.word + ": " + error.what());
      result.refused = error.what();
    }
  }
  return all_ready;
}

/// Returns CLOCK_MONOTONIC in seconds; MPI_Wtime() may shift it.
inline double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline std::optional<std::int64_t> add_difference(std::optional<std::int64_t> sum,
                                                  std::optional<std::int64_t> before,
                                                  std::optional<std::int64_t> after) {
  if (!sum || !before || !after) return std::nullopt;
  return *sum + *after - *before;
}

inline void verify(Payload& payload, const MethodSpec& spec) {
  mpi::all_or_none(MPI_COMM_WORLD, [&] {
    if (const std::string wrong = payload.verify_received(); !wrong.empty())
      throw Error(ErrorCode::mismatch, spec.word + ": " + wrong);
  });
}

/// Returns the statistics of samples. Requires at least one sample.
inline ExchangeTime summarize(const std::vector<double>& samples_s) {
  const auto [least, most] = std::ranges::minmax(samples_s);
  return {kit::median(samples_s), least, most, kit::percentile(samples_s, 95)};
}

/// Collective. Measures methods. Before every repetition the receive buffers are overwritten, and after it
/// every byte is verified; both are outside the timed part. The methods are interleaved, so that noise
/// affects all alike, and every round begins with another method. Throws Error mismatch on all ranks, with
/// method, pair and byte, if a payload arrives damaged.
inline void measure(const Options& options, Payload& payload, const Takes& takes,
                    std::vector<Result>& results) {
  std::vector<Ready> all_ready = prepare(options, payload, takes, results);
  const int rounds = options.warmup + options.reps;
  const Progress progress(rounds);
  const TcpCounter tcp;
  auto before = tcp.sent_again();
  Random random(1);
  std::vector<std::size_t> order(all_ready.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int round = 0; round < rounds; ++round) {
    progress.round(round + 1);
    // The order is random, because the effects that a method leaves in caches or on the network must not
    // always affect the same next method. It is the same on all ranks.
    random.shuffle(std::span(order));
    for (const std::size_t turn : order) {
      Ready& ready = all_ready[turn];
      for (int i = 0; i < options.settle; ++i) ready.method->run();
      if (options.settle > 0) before = tcp.sent_again();
      payload.poison_received();
      results[ready.result].begin_s.push_back(monotonic_s());
      const double elapsed_s = kit::time_batch([&] { ready.method->run(); }, options.batch);
      verify(payload, results[ready.result].spec);
      const auto after = tcp.sent_again();
      results[ready.result].all_s.push_back(elapsed_s);
      if (std::string by = ready.method->carried_out_by(); !by.empty())
        results[ready.result].by.push_back(std::move(by));
      if (round >= options.warmup) {
        ready.samples_s.push_back(elapsed_s);
        ready.sent_again = add_difference(ready.sent_again, before, after);
      }
      before = after;
    }
  }
  for (Ready& ready : all_ready) {
    Result& result = results[ready.result];
    if (ready.sent_again)
      result.sent_again = static_cast<double>(*ready.sent_again) / (options.reps * options.batch);
    result.exchange = summarize(ready.samples_s);
    result.asking = ready.method->asking();
    result.learnt = ready.method->learnt();
  }
}

/// Collective. Returns one result per method, in the given order. Between hosts, MPI's methods are measured
/// first. Later the library sets the windows of the process's connections, which would also help MPI's
/// methods.
inline std::vector<Result> measure(const Options& options, Payload& payload) {
  std::vector<Result> results;
  for (const MethodSpec& spec : options.methods) results.emplace_back().spec = spec;
  if (are_on_one_host()) {
    measure(options, payload, [](const MethodSpec&) { return true; }, results);
  } else {
    measure(options, payload, is_of_mpi, results);
    measure(options, payload, std::not_fn(is_of_mpi), results);
  }
  return results;
}

}  // namespace nuice::bench
