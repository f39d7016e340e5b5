// SPDX-License-Identifier: BSD-3-Clause
// What happens to a transfer between the two processors: it waits for the send port, starts up, waits for the receiver's
// port and (circuits) for all links of its route, and moves its bytes at the rate that the others leave it.
//
//   submit -> [queue of the send port] -> start-up -> [queue of the receiver or of a link] -> bytes -> Watcher::left
//
// All waiting is first come, first served. A circuit takes its links all at once or none; or one by one before the
// receiver's port, if the machine says so (holds_while_waiting).
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "machine/simulator/events.hpp"
#include "machine/simulator/max_min.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice::machine {

using TransferId = std::uint32_t;

/// What the network tells of a transfer.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void port_taken(TransferId id, double now) = 0;  ///< The start-up begins.
  virtual void blocked(TransferId id, double now) = 0;     ///< Links or the receiver are busy.
  virtual void bytes_begin(TransferId id, double now) = 0;
  virtual void left(TransferId id, double now) = 0;  ///< The last byte is out, the ports and links are free.
};

/// What it counts.
struct NetworkCounts {
  std::uint64_t node_contention = 0;
  std::uint64_t link_contention = 0;
  std::uint64_t timeouts = 0;
};

/// Throws Error limit where something is repeated 2^22 times, a few seconds of simulating: a message of 1 TiB is asked for,
/// or turned away, billions of times.
void require_few(std::uint64_t repeats, const char* what);

struct Move;

class Network {
 public:
  /// slowdown: by rank, how many times slower its port is (memory).
  Network(const Machine& machine, std::vector<double> slowdown, Events& events, Watcher& watcher);

  /// A transfer that both processors are ready for. `together`: an exchange that both partners have begun together.
  void submit(TransferId id, const Move& move, double wire, double now);

  void port_ready(TransferId id, double now);
  void flow_ends(TransferId id, std::uint32_t version, double now);
  /// The processor of `rank` does something else for so long: what it is receiving takes so much longer.
  void interrupt(Rank rank, double seconds, double now);
  /// While it works, and if it is the processor that moves the bytes, the port of `rank` stands still.
  void processor_works(Rank rank, bool works);
  /// To be called when all events of a time are done, before the next ones.
  void settle(double now);

  /// Links on the way; valid once submitted.
  std::size_t hops(TransferId id) const { return routes_of_[id].size(); }
  const NetworkCounts& counts() const { return counts_; }

 private:
  struct Journey {  // of a transfer
    Rank src = 0;
    Rank dst = 0;
    bool together = false;
    bool counted_node = false;
    bool counted_link = false;
    std::size_t held = 0;  // links of its route that it holds before it begins; holds_while_waiting only
    bool blocked = false;
    FlowId flow = -1;
    std::uint32_t version = 0;  // of the event that says when it ends
    double wire = 0;
    double left = 0;  // bytes still to go at `updated`
    double updated = 0;
    double rate = 0;
    double ends = 0;    // at this rate
    double queued = 0;  // when the event in the queue comes; never later than `ends`
  };
  struct Port {
    int sending = 0;
    int receiving = 0;   // holding the port, bytes moving
    int moving_out = 0;  // bytes moving
    bool paused = false;
    double wire_in = 0;  // bytes of the messages that are coming in, whole messages
    std::deque<TransferId> to_send;
    std::deque<TransferId> to_receive;  // waiting for the receive port
  };
  struct Wire {  // a link, for circuits
    int free = 1;
    std::deque<TransferId> waiting;
  };

  static std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }
  static ResourceId receive_port(Rank rank) { return rank; }
  ResourceId send_port(Rank rank) const { return num_ranks_ + rank; }
  ResourceId whole_port(Rank rank) const { return 2 * num_ranks_ + rank; }
  ResourceId link_resource(LinkId link) const { return 3 * num_ranks_ + link; }

  std::vector<double> capacities() const;
  void take_port(TransferId id, double now);
  void enter(TransferId id, double now);
  bool may_enter(TransferId id, double now);
  bool receiver_has_room(TransferId id, double now);
  bool takes_links(TransferId id, double now);
  void wait_for_link(TransferId id, LinkId link, double now);
  bool turned_away(TransferId id, double now);
  void begin(TransferId id, double now);
  void list_resources(TransferId id);
  void note_contention(TransferId id);
  void set_port_speed(Rank rank);
  void finish(TransferId id, double now);
  void leave_flow(TransferId id);
  void wake_receivers(Rank rank, double now);
  void wake_link(LinkId link, double now);
  void block(TransferId id, std::deque<TransferId>& waiting, double now);
  static void move_bytes(Journey& journey, double now);
  void reschedule(TransferId id);
  bool circuits() const { return machine_.switching == Switching::circuit; }
  bool holds_while_waiting() const { return circuits() && machine_.holds_while_waiting; }

  const Machine& machine_;
  Rank num_ranks_;
  double speed_;  // of a port, bytes per second
  std::vector<double> slowdown_;
  Events& events_;
  Watcher& watcher_;
  MaxMin rates_;
  std::vector<Journey> journeys_;
  std::vector<std::vector<LinkId>> routes_of_;
  std::vector<Port> ports_;
  std::vector<Wire> wires_;
  std::vector<TransferId> transfer_of_flow_;
  std::vector<FlowId> free_flows_;
  std::vector<std::vector<TransferId>> incoming_;  // by rank: bytes moving
  std::vector<ResourceId> resources_;              // scratch
  NetworkCounts counts_;
};

}  // namespace nuice::machine
