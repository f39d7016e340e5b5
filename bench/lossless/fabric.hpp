// SPDX-License-Identifier: BSD-3-Clause
// Moves packets through switches with input queues that drop nothing, on a virtual clock.
//
//   a wire carries one packet at a time, for its bytes at its speed, and only if the input behind it has room
//   an input gives up one packet at a time; what stands behind one whose output is taken waits with it (fifo)
//   an output takes the next input in turn
//
// A host's card keeps a queue for every flow, and sends one packet of each flow alternately. The caller
// drives the clock: a loop of a test, or the machine's clock (emulator.cpp). The fabric knows no topology,
// file or socket.
#pragma once

#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include "lossless/cabling.hpp"

namespace nuice::lossless {

using Time = std::int64_t;  // nanoseconds
inline constexpr Time never = std::numeric_limits<Time>::max();

enum class Flow : std::uint8_t {
  credits,  ///< A packet leaves when the next input has room for it.
  pfc,      ///< An input pauses its wire when its buffer is half full, until it is a quarter full.
};

struct Rules {
  double bits_per_s = 20e6;   ///< The speed of a port.
  std::uint32_t buffer = 32;  ///< The number of packets that every input and lane can hold.
  Flow flow = Flow::credits;
  /// Each input has one queue per output instead of a single queue. Several outputs may read an input at the
  /// same time, as from a shared memory. If only one could read, two streams whose packets end at different
  /// times would block all others.
  bool voq = false;
  bool cut_through = true;  ///< Used if a wire is not faster than the previous wire.
};

class Fabric {
 public:
  using FlowId = std::uint32_t;

  Fabric(const Cabling& cabling, const Rules& rules);

  /// Adds a flow on a route of the cabling. Its packets stay in order.
  FlowId add_flow(Rank src, Rank dst, std::int64_t path);
  /// Changes the path of a flow that is_idle(). no_path: the least loaded path.
  void take_path(FlowId flow, std::int64_t path);
  bool is_idle(FlowId flow) const { return flows_[flow].inside == 0; }
  /// Gives a packet to the card of the flow's host. now must not be before the time of run_until().
  void send(FlowId flow, std::uint32_t bytes, std::uint32_t tag, Time now);
  /// Returns the number of packets that wait in a host's card.
  std::uint32_t waiting(Rank host) const { return cards_[static_cast<std::size_t>(host)].waiting; }

  /// Returns the time of the next event, or never.
  Time next() const { return events_.empty() ? never : events_.top().at; }
  /// Handles all events up to this time. Calls arrive(flow, tag, at) when the last bit of a packet is out.
  template <typename Arrive>
  void run_until(Time now, Arrive arrive) {
    while (next() <= now) {
      now_ = next();
      while (next() == now_) {
        const Event event = events_.top();
        events_.pop();
        happens(event);
        if (!event.arrives) continue;
        const Packet packet = packets_[event.packet];
        forget(event.packet);
        arrive(packet.flow, packet.tag, now_);
      }
      serve_all();
    }
  }

  std::uint64_t sent() const { return sent_; }
  std::uint64_t delivered() const { return delivered_; }
  /// Returns the number of packets inside. They are counted in the buffers, and not as the difference of
  /// arrivals and departures.
  std::uint64_t inside() const;
  /// Returns the most packets that any buffer has held so far.
  std::uint32_t most_buffered() const { return most_buffered_; }

 private:
  static constexpr std::uint32_t none = ~0U;

  struct Packet {
    FlowId flow;
    std::uint32_t tag;
    std::uint32_t bytes;
    const Hop* hop;  // the hop on which it is, or for which it waits
    std::uint32_t next;
  };
  struct Queue {
    std::uint32_t first = none;
    std::uint32_t last = none;
  };
  struct SendingFlow {
    Rank src;
    Rank dst;
    std::span<const Hop> way;
    std::uint32_t inside = 0;
    Queue queue = {};  // its queue in the card
  };
  struct Card {
    std::vector<FlowId> active;
    std::size_t turn = 0;
    std::uint32_t waiting = 0;
  };
  struct Line {  // a wire: an output of one switch and the input of the next
    std::int32_t from;
    std::int32_t to;
    double ns_per_byte;
    Rank host;             // the host whose port it is
    std::uint32_t number;  // among the outputs of its switch
    std::uint32_t turn = 0;
    bool busy = false;     // busy as an output
    bool reading = false;  // an output reads a packet from this input
    bool is_due = false;   // in due_
  };
  struct Place {  // the buffer at a wire's far end, one per lane
    std::uint32_t used = 0;
    bool paused = false;
  };
  struct Switch {
    std::vector<std::uint32_t> inputs;  // wires
    std::vector<std::uint32_t> outputs;
  };
  struct Event {  // a packet has left over a wire, or only its input has become free
    Time at;
    std::uint64_t order;
    std::uint32_t packet;  // none: only the input is free
    std::uint32_t from;    // the wire and lane that it left; none: a card
    std::uint32_t over;    // wire
    bool frees_input;
    bool enters;
    bool arrives;
    friend bool operator<(const Event& a, const Event& b) {  // the earliest event is on top
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };

  std::size_t place(std::uint32_t wire, std::uint32_t lane) const { return wire * num_lanes_ + lane; }
  std::size_t queue_of(std::uint32_t wire, std::uint32_t lane, std::uint32_t output) const {
    return rules_.voq ? place(wire, lane) * most_outputs_ + lines_[output].number : place(wire, lane);
  }
  Time takes(std::uint32_t wire, std::uint32_t bytes) const;
  void push(Queue& queue, std::uint32_t packet);
  std::uint32_t pop(Queue& queue);
  void happens(const Event& event);
  void serve_all();
  void serve(std::uint32_t output);
  void serve_card(std::uint32_t port);
  bool try_input(std::uint32_t output, std::uint32_t input, std::uint32_t lane);
  bool may_enter(const Hop& hop) const;
  void start(std::uint32_t packet, std::uint32_t from, std::uint32_t input);
  void enter(std::uint32_t packet, std::uint32_t wire);
  void leave(std::uint32_t from);
  void offer(std::uint32_t input);
  void due(std::uint32_t wire);
  void forget(std::uint32_t packet);

  const Cabling& cabling_;
  const Rules rules_;
  std::uint32_t num_lanes_;
  std::size_t most_outputs_ = 1;
  std::vector<Line> lines_;
  std::vector<Place> places_;
  std::vector<Queue> queues_;
  std::vector<Switch> switches_;
  std::vector<Card> cards_;
  std::vector<SendingFlow> flows_;
  std::vector<Packet> packets_;
  std::uint32_t free_packet_ = none;
  std::priority_queue<Event> events_;
  std::vector<std::uint32_t> due_;  // outputs that may have something to do
  Time now_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint32_t most_buffered_ = 0;
};

}  // namespace nuice::lossless
