// SPDX-License-Identifier: BSD-3-Clause
// Many senders to one receiver: measures how much a busy receiver slows down, and when its queue overflows.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "nuice_calibrate/samples.hpp"

namespace nuice::calibrate {

inline constexpr Bytes least_fan_bytes = 1U << 12;
inline constexpr Bytes most_fan_bytes = 1U << 16;  // the largest usual message of programs
inline constexpr double most_fan_s = 0.5;          // longest time of all senders that share the port
inline constexpr double least_timeout_s = 0.02;    // a smaller excess is no timeout of a transport
inline constexpr double least_excess = 0.5;        // a smaller share of the time is no timeout either
inline constexpr double least_loss = 0.05;         // a smaller loss is noise

class FanIn {
 public:
  FanIn(Lab& lab, int reps, Bytes largest, Machine& machine, Notebook& notebook)
      : lab_(lab),
        reps_(reps),
        ranks_(lab.num_ranks()),
        largest_(largest),
        machine_(machine),
        notebook_(notebook) {}

  void run() {
    if (ranks_ < 3) {
      for (const char* key : {"loss_per_sender", "loss_per_sender_sending", "queue_senders"})
        notebook_.not_found("receiver", key, "not measured: it needs three ranks or more");
      return;
    }
    Bytes bytes = std::max(least_fan_bytes, largest_ / 4);
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
    // The queue holds messages of this size from all senders, but may overflow with longer messages.
    while (first_bad == 0 && 4 * bytes <= most_fan_bytes &&
           shared_s(ranks_ - 1, 4 * bytes, false) < most_fan_s)
      first_bad = first_that_times_out(bytes *= 4);
    if (first_bad == 0) {
      notebook_.not_found("receiver", "queue_senders",
                          "no time-outs with up to " + std::to_string(ranks_ - 1) + " senders of " +
                              std::to_string(bytes) + " B");
    } else {
      find_queue(first_bad, bytes);
    }
  }

 private:
  /// Returns the seconds that `senders` messages to one rank take if they only share its port.
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
    return median_last(series) > ideal + std::max(least_timeout_s, least_excess * ideal);
  }

  /// Returns the smallest tested number of senders with which a timeout occurs; 0: none. Tests the largest
  /// number first, because usually there is no timeout.
  Rank first_that_times_out(Bytes bytes) {
    const auto is_bad = [&](Rank senders) {
      return times_out(lab_.run(fan_in(ranks_, senders, bytes, false), reps_), senders, bytes);
    };
    if (!is_bad(ranks_ - 1)) return 0;
    const std::vector<Rank> all = counts();
    return *std::find_if(all.begin(), all.end() - 1, is_bad);
  }

  /// Returns the numbers of senders: 2, 3, 4, 6, 8, 12, ... and all.
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

  /// Returns the loss of a receiver that also sends. With full duplex the receiver has sent its own bytes
  /// after one share of the time. After that the rest comes in with the loss of a rank that does not send: T
  /// = 1 + (1 - 1 / (1 + sending)) * (1 + loss).
  Loss sending_loss_of(const Series& series, Rank senders, Bytes bytes, const Loss& alone) const {
    return {senders, estimate(reps_, [&](std::size_t rep) {
              const double shares =
                  (last(series, rep) - before_bytes_s(bytes)) / shared_s(senders, bytes, true);
              if (machine_.duplex != Duplex::full) return shares - 1;
              const double left = 1 - (shares - 1) / (1 + std::max(0.0, alone.loss.value));
              return 1 / std::max(0.02, left) - 1;
            })};
  }

  /// Fits min(per_sender * (k - 1), most) to the points by least squares over their slopes.
  void set_loss(const std::vector<Loss>& losses, const std::string& key, double Machine::* per_sender,
                const std::string& most_key, double Machine::* most) {
    if (losses.empty()) {
      notebook_.not_found("receiver", key, "not measured: time-outs came first");
      return;
    }
    const auto worst = std::ranges::max_element(losses, {}, [](const Loss& l) { return l.loss.value; });
    if (worst->loss.value < least_loss) {
      notebook_.found("receiver", key, "", {0, worst->loss.low, worst->loss.high, reps_},
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
    machine_.*per_sender = notebook_.found("receiver", key, "", best);
    machine_.*most = notebook_.found("receiver", most_key, "", worst->loss,
                                     "the most seen, with " + std::to_string(worst->senders) + " senders");
  }

  /// Finds the size of a queue. Timeouts occur with `first_bad` senders of `bytes`. Searches for the message
  /// size at which all senders together cause no timeout.
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
    notebook_.found("receiver", "queue_senders", "", {senders, senders, senders, reps_},
                    "one more had time-outs");
    machine_.queue = good * all;
    notebook_.found("receiver", "queue", "B",
                    {static_cast<double>(machine_.queue), static_cast<double>(good * all),
                     static_cast<double>(bad * all), reps_});
    machine_.timeout_s = notebook_.found("receiver", "timeout", "s", estimate(reps_, [&](std::size_t rep) {
                                           return std::max(1e-3, last(first_series, rep) - ideal);
                                         }));
  }

  Lab& lab_;
  int reps_;
  Rank ranks_;
  Bytes largest_;
  Machine& machine_;
  Notebook& notebook_;
};

/// Sets loss_* and queue, queue_senders, timeout_s of a machine whose messages and duplex are known.
/// `largest`: the largest message in bytes that does not take too long.
inline void fit_fan_in(Lab& lab, int reps, Bytes largest, Machine& machine, Notebook& notebook) {
  FanIn(lab, reps, largest, machine, notebook).run();
}

}  // namespace nuice::calibrate
