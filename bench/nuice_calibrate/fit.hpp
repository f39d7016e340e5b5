// SPDX-License-Identifier: BSD-3-Clause
// Fits a machine to measured times.
//
// The steps of the fit; each uses the results of the steps before. t(n) is the time of one message of n bytes
// in a ping-pong, per message and repetition:
//
//   send_overhead          rank 0's own time in a stream of messages of 8 bytes, executor async
//   phase                  the additional time of this stream with executor phased
//   receive_overhead       both directions at once, per message, minus send_overhead (a processor handles
//                          one message at a time)
//   latency                t(8) minus both overheads and phase
//   eager_limit            the largest message that leaves before its receive is posted, by bisection
//   bandwidth, handshake   least squares of relative errors:
//                          t(n) = t(8) + handshake [n > eager_limit] + n * byte
//   bandwidth (sustained)  one direction without pauses, until the rate stops falling: a token bucket lets
//                          the first bytes pass, and refills while a port pauses, as in a ping-pong
//   duplex                 the bytes' time in an exchange of two ranks, and in a ring of three, over t(n):
//                          1 full, 2 half
//   losses                 k senders to one receiver, over k * n * byte
//   queue, timeout         the load at which k senders suddenly take much longer than that
//   barrier                over log2 of the ranks
//
// Every number is the median over the repetitions of each repetition's value; for overheads and latency it is
// the lower quartile.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kit/units.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/core/patterns.hpp"
#include "nuice/plan/scheduler.hpp"
#include "nuice/plan/simulate.hpp"
#include "nuice_calibrate/fan_in.hpp"
#include "nuice_calibrate/samples.hpp"

namespace nuice::calibrate {

struct Settings {
  int reps = 15;
  std::string topology;  ///< The machine's topology; empty: a crossbar of all ranks.
};

/// A size of messages in a ping-pong.
struct Size {
  Bytes bytes;
  double messages;  // number of consecutive messages
  Series series;
};

class Fit {
 public:
  Fit(Lab& lab, const Settings& settings) : lab_(lab), reps_(settings.reps), ranks_(lab.num_ranks()) {
    machine_.summary = "measured by nuice-calibrate";
    const std::string crossbar = "crossbar:" + std::to_string(ranks_);
    machine_.topology = make_topology(settings.topology.empty() ? crossbar : settings.topology);
    machine_.sends_at_once = 0;
  }

  Calibration run() {
    overheads();
    eager_limit();
    bytes();
    bytes_that_last();
    duplex();
    fit_fan_in(lab_, reps_, sizes_.back().bytes, machine_, notebook_);
    barriers();
    machine_.copy_byte_s = found("memory", "copy", "s/B", [&] {
      const std::vector<double> copies = lab_.copy(reps_);
      return estimate(reps_, [&](std::size_t rep) { return copies[rep % copies.size()]; });
    }());
    require_valid(machine_);
    check_against_exchanges();
    machine_.worst_check = worst_check();
    return {std::move(machine_), notebook_.take(), std::move(checks_)};
  }

 private:
  static constexpr Bytes small = 8;
  static constexpr int many = 64;                     // number of messages in a stream
  static constexpr Bytes largest_message = 1U << 20;  // largest message of the ping-pong
  static constexpr double long_probe_s = 0.1;         // no larger messages once one takes this long
  static constexpr double half_duplex_from = 1.5;     // threshold between 1 (full) and 2 (half)
  static constexpr double lasts = 1.03;               // rates that differ by a smaller factor count as equal
  static constexpr double falls = 1.1;                // a smaller long-run drop of the rate is ignored
  static constexpr double sending_s = 1;              // seconds per run without pauses
  static constexpr int most_sendings = 5;
  // Usual exchanges, with which the fit is checked on all ranks. If an exchange takes this long, larger sizes
  // are not checked.
  static constexpr int partners = 8;
  static constexpr double slow_check_s = 0.5;

  double found(const std::string& section, const std::string& key, const std::string& unit,
               const Estimate& what, const std::string& remark = {}) {
    return notebook_.found(section, key, unit, what, remark);
  }

  // ---- one message

  void overheads() {
    const Series async = lab_.run(stream(ranks_, small, many, "async"), reps_);
    const Series phased = lab_.run(stream(ranks_, small, many, "phased"), reps_);
    const Series both = lab_.run(both_ways(ranks_, small, many, "async"), reps_);
    empty_ = lab_.run(ping_pong(ranks_, small, many / 2), reps_);
    const auto send = [&](std::size_t rep) { return first(async, rep) / many; };
    const auto phase = [&](std::size_t rep) { return std::max(0.0, first(phased, rep) / many - send(rep)); };
    const auto receive = [&](std::size_t rep) { return std::max(0.0, last(both, rep) / many - send(rep)); };
    // In a ping-pong these times follow each other, so together they take at most the time of the ping-pong.
    double left = undisturbed(reps_, [&](std::size_t rep) { return fixed(rep); }).value;
    const auto share = [&](const char* key, const auto& seconds) {
      Estimate part = undisturbed(reps_, seconds);
      part.value = std::min(part.value, left);
      left -= part.value;
      return found("processor", key, "s", part);
    };
    machine_.send_overhead_s = share("send_overhead", send);
    machine_.receive_overhead_s = share("receive_overhead", receive);
    machine_.phase_s = share("phase", phase);
    const double software = machine_.send_overhead_s + machine_.receive_overhead_s + machine_.phase_s;
    machine_.latency_s =
        found("message", "latency", "s",
              undisturbed(reps_, [&](std::size_t rep) { return std::max(0.0, fixed(rep) - software); }));
  }

  /// Returns t(8) of a repetition.
  double fixed(std::size_t rep) const { return last(empty_, rep) / many; }

  void eager_limit() {
    Bytes eager = 0;              // largest message known to leave early; 0: none
    Bytes late = Bytes{1} << 23;  // smallest message known not to leave early
    if (lab_.leaves_early(late)) {
      notebook_.not_found("message", "eager_limit",
                          "messages of 8 MiB still leave before their receive is posted");
      return;
    }
    while (late - eager > std::max<Bytes>(1, eager / 64)) {
      const Bytes middle = eager + (late - eager) / 2;
      // A disturbed rank may not notice that a message left early, but never reports so wrongly.
      (lab_.leaves_early(middle) || lab_.leaves_early(middle) ? eager : late) = middle;
    }
    machine_.eager_limit = eager;
    const auto value = static_cast<double>(eager);
    found("message", "eager_limit", "B", {value, value, static_cast<double>(late), 1}, "bisection");
  }

  void bytes() {
    for (Bytes size = 4096; size <= largest_message; size *= 4) {
      const int rounds = std::clamp(static_cast<int>(largest_message / size), 4, many / 2);
      sizes_.push_back({size, 2.0 * rounds, lab_.run(ping_pong(ranks_, size, rounds), reps_)});
      if (median_last(sizes_.back().series) > long_probe_s) break;
    }
    const bool has_late = sizes_.back().bytes > machine_.eager_limit;
    machine_.byte_s = found("port", "bandwidth", "s/B",
                            estimate(reps_, [&](std::size_t rep) { return line(rep, has_late).byte_s; }));
    if (!has_late) {
      notebook_.not_found("message", "handshake", "no message was above the eager limit");
      return;
    }
    machine_.handshake_s =
        found("message", "handshake", "s",
              estimate(reps_, [&](std::size_t rep) { return line(rep, true).handshake_s; }));
  }

  /// Measures the rate that a port sustains.
  void bytes_that_last() {
    constexpr int count = 4;
    const Size& alone = sizes_.back();
    const double each_s =
        machine_.latency_s + (alone.bytes > machine_.eager_limit ? machine_.handshake_s : 0);
    const Probe probe = stream(ranks_, alone.bytes, count, "phased");
    const auto byte_s = [&](const Series& series) {
      return std::max(1e-13, (median_last(series) / count - each_s) / static_cast<double>(alone.bytes));
    };
    double last = 0;
    for (int sent = 0; sent < most_sendings; ++sent) {
      const Series series = lab_.run_for(probe, sending_s);
      const auto third = static_cast<std::ptrdiff_t>(series.size() / 3);
      const double middle = byte_s(Series(series.begin() + third, series.end() - third));
      last = byte_s(Series(series.end() - third, series.end()));
      if (last < lasts * middle) break;
    }
    const double over = last / machine_.byte_s;
    if (over < falls) return;
    machine_.byte_s = found(
        "port", "bandwidth", "s/B", {last, last, last, 1},
        "what lasts; in short runs " + kit::number(over) + " times as much passes, as with a token bucket");
  }

  struct Line {
    double byte_s;
    double handshake_s;
  };

  /// Returns the line of least squares of ((t8 + h * late_i + b * n_i) / t_i - 1)^2; h is not negative.
  Line line(std::size_t rep, bool with_handshake) const {
    double nn = 0, nh = 0, hh = 0, ny = 0, hy = 0;
    for (const Size& size : sizes_) {
      const double t = last(size.series, rep) / size.messages;
      const double n = static_cast<double>(size.bytes) / t;
      const double h = with_handshake && size.bytes > machine_.eager_limit ? 1 / t : 0;
      const double y = std::max(0.0, 1 - fixed(rep) / t);
      nn += n * n;
      nh += n * h;
      hh += h * h;
      ny += n * y;
      hy += h * y;
    }
    const double least_byte_s = 1e-13;
    const double determinant = nn * hh - nh * nh;
    if (determinant > 1e-9 * nn * hh) {
      const Line both{(ny * hh - hy * nh) / determinant, (hy * nn - ny * nh) / determinant};
      if (both.handshake_s >= 0 && both.byte_s > 0) return both;
    }
    return {std::max(least_byte_s, ny / nn), 0};
  }

  // ---- ports

  /// Returns the time of the bytes in `series`, which has `count` phases of them, divided by the time that
  /// they take alone.
  Estimate byte_ratio(const Series& series, int count, const Size& alone) const {
    return estimate(reps_, [&](std::size_t rep) {
      const double before = fixed(rep) + (alone.bytes > machine_.eager_limit ? machine_.handshake_s : 0);
      const double one = std::max(1e-12, last(alone.series, rep) / alone.messages - before);
      return (last(series, rep) / count - before) / one;
    });
  }

  void duplex() {
    const Size& alone = sizes_.back();
    const int count = std::max(4, static_cast<int>(alone.messages) / 2);
    const Estimate pair =
        byte_ratio(lab_.run(both_ways(ranks_, alone.bytes, count, "phased"), reps_), count, alone);
    std::string remark = "two that exchange take " + kit::number(pair.value) + " times one way";
    Estimate decides = pair;
    if (ranks_ >= 3) {
      decides = byte_ratio(lab_.run(ring(ranks_, 3, alone.bytes, count), reps_), count, alone);
      remark += ", a ring of three " + kit::number(decides.value) + " times";
    } else {
      remark += "; with two ranks paired and full look alike";
    }
    if (decides.value >= half_duplex_from)
      machine_.duplex = pair.value >= half_duplex_from ? Duplex::half : Duplex::paired;
    found("port", "duplex", "", decides, remark);
  }

  // ---- all together

  void barriers() {
    std::vector<Rank> sizes;
    for (Rank size = 2; size < ranks_; size *= 2) sizes.push_back(size);
    sizes.push_back(ranks_);
    std::vector<std::vector<double>> times;
    for (const Rank size : sizes) times.push_back(lab_.barrier(size, reps_));
    const auto level = [&](std::size_t rep) {  // least squares against log2 of the ranks
      double xx = 0, x = 0, y = 0, xy = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double levels = std::ceil(std::log2(sizes[i]));
        const double time = times[i][rep % times[i].size()];
        xx += levels * levels;
        x += levels;
        y += time;
        xy += levels * time;
      }
      const auto count = static_cast<double>(sizes.size());
      const double slope = count > 1 ? (count * xy - x * y) / (count * xx - x * x) : y / x;
      return std::clamp(slope, 0.0, y / x);  // a barrier of one rank cannot take negative time
    };
    machine_.barrier_level_s = found("processor", "barrier_level", "s", estimate(reps_, level));
    machine_.barrier_s = found("processor", "barrier", "s", estimate(reps_, [&](std::size_t rep) {
                                 const double levels = std::ceil(std::log2(ranks_));
                                 const auto& all = times.back();
                                 return std::max(0.0, all[rep % all.size()] - levels * level(rep));
                               }));
  }

  /// Returns the largest relative error of the checks, in either direction.
  double worst_check() const {
    double worst = 1;
    for (const Check& check : checks_) {
      const double ratio = check.measured_s.value / check.predicted_s;
      worst = std::max({worst, ratio, 1 / ratio});
    }
    return worst;
  }

  /// Predicts and measures exchanges that were not used in the fit.
  void check_against_exchanges() {
    for (const Bytes unit : {Bytes{64}, sizes_.back().bytes / 16}) {
      const CommMatrix matrix = random_density(ranks_, 0.7, {.unit_bytes = unit, .max_units = 4}, 1);
      if (matrix.num_messages() == 0) continue;
      const std::string sizes = std::to_string(unit) + " to " + std::to_string(4 * unit);
      check(matrix, "ac", "async", sizes);
      check(matrix, "coloring", "phased", sizes);
    }
    for (const Bytes bytes : {Bytes{64} << 10, Bytes{256} << 10, Bytes{1} << 20}) {
      const Rank degree = std::min(partners, ranks_ - 1);
      check(random_regular(ranks_, degree, {.unit_bytes = bytes, .max_units = 1}, 1), "coloring", "phased",
            std::to_string(bytes));
      if (checks_.back().measured_s.value > slow_check_s) break;
    }
  }

  void check(const CommMatrix& matrix, const std::string& scheduler, const std::string& executor,
             const std::string& sizes) {
    const Probe probe{matrix, make_schedule(matrix, scheduler), executor};
    const Series series = lab_.run(probe, reps_);
    const SimulationOptions how{.executor = executor, .blocking_sends = false};
    checks_.push_back({scheduler + ":" + executor + ", " + std::to_string(matrix.num_messages()) +
                           " messages of " + sizes + " B",
                       simulate(matrix, probe.schedule, machine_, how).seconds,
                       estimate(reps_, [&](std::size_t rep) { return last(series, rep); })});
  }

  Lab& lab_;
  int reps_;
  Rank ranks_;
  Machine machine_;
  Notebook notebook_;
  std::vector<Check> checks_;
  Series empty_;
  std::vector<Size> sizes_;
};

/// Calibrates a machine. Collective if the lab's functions are. Requires two ranks.
inline Calibration calibrate(Lab& lab, const Settings& settings) { return Fit(lab, settings).run(); }

}  // namespace nuice::calibrate
