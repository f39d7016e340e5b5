// SPDX-License-Identifier: BSD-3-Clause
// The fit, step by step; each uses what the ones before have found. With t(n) the time of one message of n bytes in a
// ping-pong, per message and repetition:
//
//   send_overhead      rank 0's own time in a stream of empty-handed messages (8 bytes), executor async
//   phase              what the same stream takes longer by executor phased
//   receive_overhead   both ways at once, per message, less send_overhead (a processor does one thing at a time)
//   latency            t(8) less those three
//   eager_limit        the largest message that leaves before its receive is posted, by bisection
//   bandwidth, handshake   least squares of relative errors: t(n) = t(8) + handshake [n > eager_limit] + n * byte
//   duplex             t of an exchange of two, and of a ring of three, over t(n), bytes only: 1 full, 2 half
//   losses             k senders to one receiver, over k * n * byte
//   queue, timeout     where k senders suddenly take much longer than that
//   barrier            over log2 of the ranks
//
// Every number is the median over the repetitions of what each repetition gives.
#include "nuice_calibrate/fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "nuice/networks.hpp"
#include "nuice/patterns.hpp"
#include "nuice/scheduler.hpp"
#include "nuice/simulate.hpp"
#include "nuice_calibrate/text.hpp"

namespace nuice::calibrate {
namespace {

constexpr Bytes small = 8;
constexpr int many = 64;                     // messages of a stream
constexpr Bytes largest_message = 1U << 20;  // of the ping-pong
constexpr Bytes least_fan_bytes = 1U << 12;
constexpr double long_probe_s = 0.1;      // larger messages would take too long
constexpr double least_timeout_s = 0.02;  // an excess below is no time-out of a transport
constexpr double least_loss = 0.05;       // below it is noise
constexpr double half_duplex_from = 1.5;  // between 1 and 2

std::size_t at(std::size_t index, std::size_t size) { return index % size; }

/// The median of value(repetition), and its spread.
Estimate estimate(int reps, const std::function<double(std::size_t)>& value) {
  std::vector<double> values;
  for (int rep = 0; rep < reps; ++rep) values.push_back(value(static_cast<std::size_t>(rep)));
  std::ranges::sort(values);
  const std::size_t count = values.size();
  return {.value = values[count / 2],
          .low = values[count / 4],
          .high = values[count - 1 - count / 4],
          .repetitions = reps};
}

using Series = std::vector<Sample>;

double last(const Series& series, std::size_t rep) { return series[at(rep, series.size())].last_s; }
double first(const Series& series, std::size_t rep) { return series[at(rep, series.size())].first_s; }

double median_last(const Series& series) {
  std::vector<double> times;
  for (const Sample& sample : series) times.push_back(sample.last_s);
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// Messages of a ping-pong.
struct Size {
  Bytes bytes;
  double messages;  // one after the other
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
    duplex();
    many_to_one();
    barriers();
    machine_.copy_byte_s = found("memory", "copy", "s/B", [&] {
      const std::vector<double> copies = lab_.copy(reps_);
      return estimate(reps_, [&](std::size_t rep) { return copies[at(rep, copies.size())]; });
    }());
    require_sense(machine_);
    check_against_exchanges();
    return {std::move(machine_), std::move(findings_), std::move(checks_)};
  }

 private:
  double found(std::string section, std::string key, std::string unit, const Estimate& what,
               std::string remark = {}) {
    Finding finding{std::move(section), std::move(key), std::move(unit), what, std::move(remark)};
    finding.estimate.value = rounded(what.value, finding.unit);
    findings_.push_back(std::move(finding));
    return findings_.back().estimate.value;
  }
  void not_found(std::string section, std::string key, std::string why) {
    findings_.push_back({std::move(section), std::move(key), {}, {}, std::move(why)});
  }

  // ---- one message

  void overheads() {
    const Series async = lab_.run(stream(ranks_, small, many, mpi::Executor::async), reps_);
    const Series phased = lab_.run(stream(ranks_, small, many, mpi::Executor::phased), reps_);
    const Series both = lab_.run(both_ways(ranks_, small, many, mpi::Executor::async), reps_);
    empty_ = lab_.run(ping_pong(ranks_, small, many / 2), reps_);
    const auto send = [&](std::size_t rep) { return first(async, rep) / many; };
    const auto phase = [&](std::size_t rep) { return std::max(0.0, first(phased, rep) / many - send(rep)); };
    const auto receive = [&](std::size_t rep) { return std::max(0.0, last(both, rep) / many - send(rep)); };
    machine_.send_overhead_s = found("processor", "send_overhead", "s", estimate(reps_, send));
    machine_.receive_overhead_s = found("processor", "receive_overhead", "s", estimate(reps_, receive));
    machine_.phase_s = found("processor", "phase", "s", estimate(reps_, phase));
    const double software = machine_.send_overhead_s + machine_.receive_overhead_s + machine_.phase_s;
    machine_.latency_s =
        found("message", "latency", "s",
              estimate(reps_, [&](std::size_t rep) { return std::max(0.0, fixed(rep) - software); }));
  }

  /// t(8) of a repetition.
  double fixed(std::size_t rep) const { return last(empty_, rep) / many; }

  void eager_limit() {
    Bytes eager = 0;              // leaves early, if not 0
    Bytes late = Bytes{1} << 23;  // does not
    if (lab_.leaves_early(late)) {
      not_found("message", "eager_limit", "messages of 8 MiB still leave before their receive is posted");
      return;
    }
    while (late - eager > std::max<Bytes>(1, eager / 64)) {
      const Bytes middle = eager + (late - eager) / 2;
      (lab_.leaves_early(middle) ? eager : late) = middle;
    }
    machine_.eager_limit = eager;
    const auto value = static_cast<double>(eager);
    findings_.push_back(
        {"message", "eager_limit", "B", {value, value, static_cast<double>(late), 1}, "bisection"});
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
      not_found("message", "handshake", "no message was above the eager limit");
      return;
    }
    machine_.handshake_s =
        found("message", "handshake", "s",
              estimate(reps_, [&](std::size_t rep) { return line(rep, true).handshake_s; }));
  }

  struct Line {
    double byte_s;
    double handshake_s;
  };

  /// Least squares of ((t8 + h * late_i + b * n_i) / t_i - 1)^2; h is not negative.
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

  /// What bytes take in `series`, `count` phases of them, over what they take alone.
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
    const Estimate pair = byte_ratio(
        lab_.run(both_ways(ranks_, alone.bytes, count, mpi::Executor::phased), reps_), count, alone);
    std::string remark = "two that exchange take " + number(pair.value) + " times one way";
    Estimate decides = pair;
    if (ranks_ >= 3) {
      decides = byte_ratio(lab_.run(ring(ranks_, 3, alone.bytes, count), reps_), count, alone);
      remark += ", a ring of three " + number(decides.value) + " times";
    } else {
      remark += "; paired cannot be told from full with two ranks";
    }
    if (decides.value >= half_duplex_from)
      machine_.duplex = pair.value >= half_duplex_from ? Duplex::half : Duplex::paired;
    found("port", "duplex", "", decides, remark);
  }

  /// Bytes of `senders` messages to one rank, if they only share its port.
  double shared_s(Rank senders, Bytes bytes, bool and_out) const {
    const bool shares = and_out && machine_.duplex != Duplex::full;
    return machine_.byte_s * static_cast<double>(bytes) * senders * (shares ? 2 : 1);
  }

  double before_bytes_s(Bytes bytes) const {
    return machine_.send_overhead_s + machine_.latency_s + machine_.receive_overhead_s +
           (bytes > machine_.eager_limit ? machine_.handshake_s : 0);
  }

  bool times_out(const Series& series, Rank senders, Bytes bytes) const {
    const double ideal = before_bytes_s(bytes) + shared_s(senders, bytes, false);
    return median_last(series) > ideal + std::max(least_timeout_s, 2 * ideal);
  }

  void many_to_one() {
    if (ranks_ < 3) {
      for (const char* key : {"loss_per_sender", "loss_per_sender_sending", "queue_senders"})
        not_found("receiver", key, "not measured: that takes three ranks or more");
      return;
    }
    const Bytes bytes = std::max(least_fan_bytes, sizes_.back().bytes / 4);
    Rank first_bad = 0;
    std::vector<Loss> losses;
    std::vector<Loss> sending;
    for (const Rank senders : counts()) {
      const Series series = lab_.run(fan_in(ranks_, senders, bytes, false), reps_);
      if (times_out(series, senders, bytes)) {
        first_bad = senders;
        break;
      }
      losses.push_back(loss_of(series, senders, bytes));
      sending.push_back(sending_loss_of(lab_.run(fan_in(ranks_, senders, bytes, true), reps_), senders, bytes,
                                        losses.back()));
    }
    set_loss(losses, "loss_per_sender", &Machine::loss_per_sender, "loss_most", &Machine::loss_most);
    set_loss(sending, "loss_per_sender_sending", &Machine::loss_per_sender_sending, "loss_most_sending",
             &Machine::loss_most_sending);
    if (first_bad == 0) {
      not_found("receiver", "queue_senders",
                "no time-outs with up to " + std::to_string(ranks_ - 1) + " senders of " +
                    std::to_string(bytes) + " B");
    } else {
      find_queue(first_bad, bytes);
    }
  }

  /// 2, 3, 4, 6, 8, 12, ... senders, and all.
  std::vector<Rank> counts() const {
    std::vector<Rank> senders;
    for (Rank power = 2; power < ranks_; power *= 2)
      for (const Rank count : {power, power + power / 2})
        if (count < ranks_ - 1 && (senders.empty() || senders.back() < count)) senders.push_back(count);
    senders.push_back(ranks_ - 1);
    return senders;
  }

  struct Loss {
    Rank senders;
    Estimate loss;
  };

  Loss loss_of(const Series& series, Rank senders, Bytes bytes) const {
    return {senders, estimate(reps_, [&](std::size_t rep) {
              return (last(series, rep) - before_bytes_s(bytes)) / shared_s(senders, bytes, false) - 1;
            })};
  }

  /// With full duplex the receiver's own bytes are out after one share of time, and the rest comes in at the loss of a rank
  /// that does not send: T = 1 + (1 - 1 / (1 + sending)) * (1 + loss).
  Loss sending_loss_of(const Series& series, Rank senders, Bytes bytes, const Loss& alone) const {
    return {senders, estimate(reps_, [&](std::size_t rep) {
              const double shares =
                  (last(series, rep) - before_bytes_s(bytes)) / shared_s(senders, bytes, true);
              if (machine_.duplex != Duplex::full) return shares - 1;
              const double left = 1 - (shares - 1) / (1 + std::max(0.0, alone.loss.value));
              return 1 / std::max(0.02, left) - 1;
            })};
  }

  /// min(per_sender * (k - 1), most) through the points, by least squares over the slopes that they have.
  void set_loss(const std::vector<Loss>& losses, const std::string& key, double Machine::* per_sender,
                const std::string& most_key, double Machine::* most) {
    if (losses.empty()) return not_found("receiver", key, "not measured: time-outs came first");
    const auto worst = std::ranges::max_element(losses, {}, [](const Loss& l) { return l.loss.value; });
    if (worst->loss.value < least_loss) {
      found("receiver", key, "", {0, worst->loss.low, worst->loss.high, reps_},
            "none seen: as shares of one port");
      return;
    }
    double best_error = std::numeric_limits<double>::infinity();
    Estimate best;
    for (const Loss& candidate : losses) {
      const double slope = candidate.loss.value / (candidate.senders - 1);
      double error = 0;
      for (const Loss& l : losses)
        error += std::pow(l.loss.value - std::min(slope * (l.senders - 1), worst->loss.value), 2);
      if (slope <= 0 || error >= best_error) continue;
      best_error = error;
      best = {slope, candidate.loss.low / (candidate.senders - 1),
              candidate.loss.high / (candidate.senders - 1), reps_};
    }
    machine_.*per_sender = found("receiver", key, "", best);
    machine_.*most = found("receiver", most_key, "", worst->loss,
                           "the most seen, with " + std::to_string(worst->senders) + " senders");
  }

  /// Time-outs begin with `first_bad` senders of `bytes`: how small do messages of all have to be to have none?
  void find_queue(Rank first_bad, Bytes bytes) {
    const Rank all = ranks_ - 1;
    Bytes good = 0;
    Bytes bad = bytes;
    Series first_series = lab_.run(fan_in(ranks_, first_bad, bytes, false), reps_);
    double ideal = before_bytes_s(bytes) + shared_s(first_bad, bytes, false);
    for (Bytes size = 512; size < bytes; size *= 2) {
      const Series series = lab_.run(fan_in(ranks_, all, size, false), reps_);
      if (times_out(series, all, size)) {
        bad = size;
        first_series = series;
        ideal = before_bytes_s(size) + shared_s(all, size, false);
        break;
      }
      good = size;
    }
    machine_.queue_senders = first_bad - 1;
    const double senders = machine_.queue_senders;
    found("receiver", "queue_senders", "", {senders, senders, senders, reps_}, "one more had time-outs");
    machine_.queue = good * all;
    found("receiver", "queue", "B",
          {static_cast<double>(machine_.queue), static_cast<double>(good * all),
           static_cast<double>(bad * all), reps_});
    machine_.timeout_s = found("receiver", "timeout", "s", estimate(reps_, [&](std::size_t rep) {
                                 return std::max(1e-3, last(first_series, rep) - ideal);
                               }));
  }

  // ---- all together

  void barriers() {
    std::vector<Rank> sizes;
    for (Rank size = 2; size < ranks_; size *= 2) sizes.push_back(size);
    sizes.push_back(ranks_);
    std::vector<std::vector<double>> times;
    for (const Rank size : sizes) times.push_back(lab_.barrier(size, reps_));
    const auto level = [&](std::size_t rep) {  // least squares through what log2 of the ranks explains
      double xx = 0, x = 0, y = 0, xy = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double levels = std::ceil(std::log2(sizes[i]));
        const double time = times[i][at(rep, times[i].size())];
        xx += levels * levels;
        x += levels;
        y += time;
        xy += levels * time;
      }
      const auto count = static_cast<double>(sizes.size());
      const double slope = count > 1 ? (count * xy - x * y) / (count * xx - x * x) : y / x;
      return std::clamp(slope, 0.0, y / x);  // no barrier of one rank takes less than nothing
    };
    machine_.barrier_level_s = found("processor", "barrier_level", "s", estimate(reps_, level));
    machine_.barrier_s = found("processor", "barrier", "s", estimate(reps_, [&](std::size_t rep) {
                                 const double levels = std::ceil(std::log2(ranks_));
                                 const auto& all = times.back();
                                 return std::max(0.0, all[at(rep, all.size())] - levels * level(rep));
                               }));
  }

  /// Exchanges that had no part in the fit, predicted and measured.
  void check_against_exchanges() {
    for (const Bytes unit : {Bytes{64}, sizes_.back().bytes / 16}) {
      const CommMatrix matrix = random_density(ranks_, 0.7, {.unit_bytes = unit, .max_units = 4}, 1);
      if (matrix.num_messages() == 0) continue;
      check(matrix, "ac", mpi::Executor::async, nuice::Executor::async, unit);
      check(matrix, "coloring", mpi::Executor::phased, nuice::Executor::phased, unit);
    }
  }

  void check(const CommMatrix& matrix, const std::string& scheduler, mpi::Executor real,
             nuice::Executor simulated, Bytes unit) {
    const Probe probe{matrix, make_schedule(matrix, scheduler), real};
    const Series series = lab_.run(probe, reps_);
    const SimulationOptions how{.executor = simulated, .blocking_sends = false};
    checks_.push_back({scheduler + ":" + std::string(mpi::executor_name(real)) + ", " +
                           std::to_string(matrix.num_messages()) + " messages of " + std::to_string(unit) +
                           " to " + std::to_string(4 * unit) + " B",
                       simulate(matrix, probe.schedule, machine_, how).seconds,
                       estimate(reps_, [&](std::size_t rep) { return last(series, rep); })});
  }

  Lab& lab_;
  int reps_;
  Rank ranks_;
  Machine machine_;
  std::vector<Finding> findings_;
  std::vector<Check> checks_;
  Series empty_;
  std::vector<Size> sizes_;
};

}  // namespace

Calibration calibrate(Lab& lab, const Settings& settings) { return Fit(lab, settings).run(); }

}  // namespace nuice::calibrate
