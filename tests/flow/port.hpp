// SPDX-License-Identifier: BSD-3-Clause
// Simulates a switch port, its queue and the TCP connections that converge on it, packet by packet, for tests
// of windows.
//
// A sender always has data, and sends as much as its window allows. The queue drops packets that do not fit.
// A sender notices a lost packet when three later packets of its connection have arrived, else after a
// timeout of 200 ms (Linux: TCP_RTO_MIN), during which its connection sends nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <vector>

#include "flow/window.hpp"

namespace nuice::test {

struct PortSettings {
  double bytes_per_s = 0;
  double round_trip_s = 0;
  double queue_bytes = 0;
  int num_senders = 0;
  /// The bytes per connection that senders have in flight without a window: the minimum of their congestion
  /// control.
  std::int64_t natural_bytes = 4 * 1448;
};

class Port {
 public:
  static constexpr std::int64_t segment = 1448;
  static constexpr double timeout_s = 0.2;

  explicit Port(const PortSettings& settings) : settings_(settings), senders_(settings.num_senders) {
    for (int i = 0; i < settings.num_senders; ++i)
      events_.push({settings.round_trip_s * i / settings.num_senders, i, Kind::send});
  }

  void change_rate(double bytes_per_s) {
    free_at_ = now_ + std::max(0.0, free_at_ - now_) * settings_.bytes_per_s / bytes_per_s;
    settings_.bytes_per_s = bytes_per_s;
  }

  /// Runs for this time, with the window or without it (null). Returns the share of the port's rate that got
  /// through.
  double run(double seconds, flow::Window* window, double report_every_s = 0.004) {
    const double end = now_ + seconds;
    const std::int64_t before = delivered_;
    double next_report = now_ + report_every_s;
    while (!events_.empty() && events_.top().at < end) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      if (window != nullptr && now_ >= next_report) {
        report(*window, now_ - (next_report - report_every_s));
        next_report = now_ + report_every_s;
      }
      handle(event);
    }
    now_ = end;
    return static_cast<double>(delivered_ - before) / (settings_.bytes_per_s * seconds);
  }

  std::int64_t dropped() const { return dropped_; }

 private:
  enum class Kind { send, arrive, acknowledge, timeout };
  struct Event {
    double at;
    int sender;
    Kind kind;
    friend bool operator<(const Event& a, const Event& b) { return a.at > b.at; }
  };
  struct Sender {
    std::int64_t in_flight = 0;  // bytes, including those of lost packets
    std::int64_t lost = 0;
    int since_loss = 0;
    bool waits = false;  // until the timeout
  };

  void handle(const Event& event) {
    Sender& sender = senders_[event.sender];
    if (event.kind == Kind::arrive) return arrive(event.sender, sender);
    if (event.kind == Kind::acknowledge) sender.in_flight -= segment;
    if (event.kind == Kind::timeout) {
      if (!sender.waits) return;
      recover(sender);
    }
    if (!sender.waits) send(event.sender, sender);
  }

  std::int64_t allowed() const { return std::min(share_, settings_.natural_bytes); }

  void send(int index, Sender& sender) {
    while (sender.in_flight + segment <= std::max(allowed(), segment)) {
      sender.in_flight += segment;
      const double queued = std::max(0.0, free_at_ - now_) * settings_.bytes_per_s;
      if (queued + segment > settings_.queue_bytes + segment) {
        ++dropped_;
        ++sender.lost;
        sender.since_loss = 0;
        if (sender.in_flight == sender.lost * segment) wait(index, sender);
        continue;
      }
      free_at_ = std::max(free_at_, now_) + segment / settings_.bytes_per_s;
      events_.push({free_at_ + settings_.round_trip_s / 2, index, Kind::arrive});
    }
  }

  void arrive(int index, Sender& sender) {
    delivered_ += segment;
    ++segments_;
    events_.push({now_ + settings_.round_trip_s / 2, index, Kind::acknowledge});
    if (sender.lost == 0) return;
    ++out_of_order_;
    if (++sender.since_loss >= 3)
      recover(sender);
    else if (sender.in_flight <= (sender.lost + 1) * segment)
      wait(index, sender);
  }

  void wait(int index, Sender& sender) {
    if (sender.waits) return;
    sender.waits = true;
    events_.push({now_ + timeout_s, index, Kind::timeout});
  }

  void recover(Sender& sender) {
    sender.in_flight -= sender.lost * segment;
    sender.lost = sender.since_loss = 0;
    sender.waits = false;
  }

  void report(flow::Window& window, double elapsed_s) {
    flow::Report report;
    report.segments = segments_;
    report.lost_segments = out_of_order_;
    report.segment_bytes = segment;
    report.timed_s = elapsed_s;
    report.timed_segments = segments_;
    report.round_trip_s = settings_.round_trip_s;
    report.num_senders = settings_.num_senders;
    segments_ = out_of_order_ = 0;
    if (report.segments > 0) window.add(report);
    share_ = window.share_bytes(settings_.num_senders, segment);
  }

  PortSettings settings_;
  std::vector<Sender> senders_;
  std::priority_queue<Event> events_;
  double now_ = 0;
  double free_at_ = 0;  // when the port has sent all queued packets
  std::int64_t share_ = flow::Window::unlimited;
  std::int64_t delivered_ = 0;
  std::int64_t segments_ = 0;
  std::int64_t out_of_order_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace nuice::test
