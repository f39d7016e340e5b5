// SPDX-License-Identifier: BSD-3-Clause
// A receiver's port, packet by packet: several senders, a link each, one switch queue of finite length, one delay. Grants are as
// those of the executor credit: chunk by chunk in the order of the senders, within the window and of one sender within a quarter
// of it. The window is that of exchange::WindowControl itself, told what it is told on MPI: arrivals, losses, and reports that are
// heard of two exchanges later. What the queue cannot hold is dropped and retransmitted, two round trips later; the last packet
// of a chunk, after which nothing tells that it is missing, 200 ms later, as TCP does. A sender's bytes arrive in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "exchange/window_control.hpp"

namespace nuice::test {

struct SimulatedPort {
  double bytes_s;       // rate of every link
  double round_trip_s;  // of a grant and the first bit of what it asks for
  Bytes queue_bytes;
  int senders = 8;
  Bytes bytes_each = 0;
};

class PortSimulation {
 public:
  PortSimulation(const SimulatedPort& port, const exchange::WindowBounds& bounds)
      : port_(port),
        control_(bounds),
        first_window_(control_.first_window_bytes()),
        chunk_(control_.chunk_bytes()) {}

  /// Seconds of the next exchange, from the start to the last byte.
  double run() {
    begin();
    while (bytes_left_ > 0) {
      const auto [now, what] = events_.top();
      events_.pop();
      now_ = now;
      what.act(*this, what);
    }
    return end();
  }

  const exchange::WindowControl& control() const { return control_; }
  std::int64_t dropped() const { return dropped_; }
  /// What an exchange takes at least: every packet with its header, back to back, and the way.
  double bound_s() const {
    const double packets =
        static_cast<double>(port_.senders) * static_cast<double>((port_.bytes_each + payload - 1) / payload);
    const double bytes = static_cast<double>(port_.senders) * static_cast<double>(port_.bytes_each);
    return (bytes + packets * header) / port_.bytes_s + port_.round_trip_s / 2;
  }

 private:
  static constexpr Bytes payload = 1448;
  static constexpr double header = 90;
  static constexpr double timer_s = 0.2;
  struct Event {
    void (*act)(PortSimulation&, const Event&);
    std::size_t sender;
    std::int64_t packet;
  };
  struct Packet {
    Bytes bytes;
    bool ends_chunk;
    Bytes chunk_bytes;
    double asked_s;
    bool is_here = false;
  };
  struct Sender {
    std::vector<Packet> packets;
    std::size_t delivered = 0;  // packets, in order
    Bytes granted = 0;
    Bytes outstanding = 0;
    double link_free_s = 0;
  };
  using Timed = std::pair<double, Event>;
  struct Later {
    bool operator()(const Timed& a, const Timed& b) const { return a.first > b.first; }
  };

  void begin() {
    ++exchange_;
    if (!reports_.empty() && exchange_ >= reports_.front().first + 2) {
      control_.learn(reports_.front().second);
      reports_.pop_front();
    }
    senders_.assign(static_cast<std::size_t>(port_.senders), {});
    for (Sender& sender : senders_) sender.link_free_s = now_;
    events_ = {};
    begun_s_ = now_;
    port_free_s_ = std::max(port_free_s_, now_);
    outstanding_ = 0;
    bytes_left_ = port_.bytes_each * port_.senders;
    control_.start(now_);
    const Bytes chunk = chunk_;
    window_ = window_at_start_ = first_window_;
    grant(chunk, now_, -1);
    chunk_in_use_ = chunk;
    if (exchange::WindowControl::is_confirmed(exchange_)) {
      chunk_ = control_.chunk_bytes();
      first_window_ = control_.first_window_bytes();
    }
    grant(chunk, now_ + port_.round_trip_s / 2, now_);
  }

  double end() {
    control_.finish(now_);
    packets_ += port_.senders * ((port_.bytes_each + payload - 1) / payload);
    if (exchange::WindowControl::ends_block(exchange_)) {
      const double lost = static_cast<double>(dropped_ - reported_dropped_) / static_cast<double>(packets_);
      reports_.emplace_back(exchange_, control_.report(lost));
      reported_dropped_ = dropped_;
      packets_ = 0;
    }
    return now_ - begun_s_;
  }

  void grant(Bytes chunk, double at_sender_s, double asked_s) {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < senders_.size() && !again; ++i) {
        Sender& sender = senders_[i];
        const Bytes some = std::min(chunk, port_.bytes_each - sender.granted);
        if (some == 0) continue;
        if (outstanding_ > 0 && outstanding_ + some > window_) return;
        const auto open = static_cast<Bytes>(
            std::ranges::count_if(senders_, [&](const Sender& s) { return s.granted < port_.bytes_each; }));
        const Bytes share = window_ / std::min<Bytes>(open, 4);
        if (sender.outstanding > 0 && sender.outstanding + some > share) continue;
        send(i, some, at_sender_s, asked_s);
        again = true;
      }
    }
  }

  void send(std::size_t index, Bytes chunk, double at_s, double asked_s) {
    Sender& sender = senders_[index];
    sender.granted += chunk;
    sender.outstanding += chunk;
    outstanding_ += chunk;
    for (Bytes sent = 0; sent < chunk; sent += payload) {
      const Bytes bytes = std::min(payload, chunk - sent);
      sender.packets.push_back({bytes, sent + bytes == chunk, chunk, asked_s});
      sender.link_free_s =
          std::max(sender.link_free_s, at_s) + (static_cast<double>(bytes) + header) / port_.bytes_s;
      schedule(sender.link_free_s,
               {enter_queue, index, static_cast<std::int64_t>(sender.packets.size()) - 1});
    }
  }

  static void enter_queue(PortSimulation& self, const Event& event) { self.enqueue(event); }
  void enqueue(const Event& event) {
    const Packet& packet = senders_[event.sender].packets[static_cast<std::size_t>(event.packet)];
    const double wire = static_cast<double>(packet.bytes) + header;
    port_free_s_ = std::max(port_free_s_, now_);
    const double waiting = (port_free_s_ - now_) * port_.bytes_s;
    if (waiting > 0 && waiting + wire > static_cast<double>(port_.queue_bytes)) {
      ++dropped_;
      const bool is_told = static_cast<std::size_t>(event.packet) + 1 < senders_[event.sender].packets.size();
      schedule(now_ + (is_told ? 2 * port_.round_trip_s : timer_s), event);
      return;
    }
    port_free_s_ += wire / port_.bytes_s;
    schedule(port_free_s_ + port_.round_trip_s / 2, {arrive, event.sender, event.packet});
  }

  static void arrive(PortSimulation& self, const Event& event) { self.land(event); }
  void land(const Event& event) {
    Sender& sender = senders_[event.sender];
    sender.packets[static_cast<std::size_t>(event.packet)].is_here = true;
    for (; sender.delivered < sender.packets.size() && sender.packets[sender.delivered].is_here;
         ++sender.delivered) {
      const Packet& packet = sender.packets[sender.delivered];
      bytes_left_ -= packet.bytes;
      if (!packet.ends_chunk) continue;
      sender.outstanding -= packet.chunk_bytes;
      outstanding_ -= packet.chunk_bytes;
      control_.land(now_, packet.chunk_bytes, packet.asked_s < 0 ? -1 : now_ - packet.asked_s);
    }
    const Bytes landed = port_.bytes_each * port_.senders - bytes_left_;
    const Bytes first = std::min(window_at_start_, control_.window_bytes());
    window_ = std::max(window_, control_.window_after(first, landed));
    grant(chunk_in_use_, now_ + port_.round_trip_s / 2, now_);
  }

  void schedule(double at_s, const Event& event) { events_.push({at_s, event}); }

  SimulatedPort port_;
  exchange::WindowControl control_;
  Bytes first_window_;
  Bytes chunk_;
  Bytes chunk_in_use_ = 0;
  Bytes window_ = 0;
  Bytes window_at_start_ = 0;
  std::deque<std::pair<std::int64_t, exchange::WindowControl::Report>> reports_;
  std::priority_queue<Timed, std::vector<Timed>, Later> events_;
  std::vector<Sender> senders_;
  double now_ = 0;
  double begun_s_ = 0;
  double port_free_s_ = 0;
  Bytes outstanding_ = 0;
  Bytes bytes_left_ = 0;
  std::int64_t exchange_ = 0;
  std::int64_t dropped_ = 0;
  std::int64_t reported_dropped_ = 0;
  std::int64_t packets_ = 0;
};

}  // namespace nuice::test
