// SPDX-License-Identifier: BSD-3-Clause
// The course of a transfer between two processors: it waits for the send port, starts up, waits for the
// receiver's port and (with circuits) for all links of its route, and then moves its bytes at the rate that
// the other transfers leave it.
//
//   submit -> [queue of the send port] -> start-up -> [queue of the receiver or of a link]
//          -> bytes -> Watcher::left
//
// All queues are first come, first served. A circuit takes all its links at once. If the machine has
// holds_while_waiting, a circuit takes its links one by one, before the receiver's port.
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

/// An observer of the transfers in the network.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void port_taken(TransferId id, double now) = 0;  ///< The start-up begins.
  virtual void blocked(TransferId id, double now) = 0;     ///< Links or the receiver are busy.
  virtual void bytes_begin(TransferId id, double now) = 0;
  virtual void left(TransferId id, double now) = 0;  ///< The last byte is out; ports and links are free.
};

/// The events that the network counts.
struct NetworkCounts {
  std::uint64_t node_contention = 0;
  std::uint64_t link_contention = 0;
  std::uint64_t timeouts = 0;
};

/// Throws Error `limit` if something was repeated 2^22 times, which takes a few seconds of simulation.
/// Without this limit, inquiries for a message of 1 TiB could be made, or turned away, billions of times.
void require_few(std::uint64_t repeats, const char* what);

struct Move;

class Network {
 public:
  /// slowdown: for each rank, the factor by which its memory slows its port.
  Network(const Machine& machine, std::vector<double> slowdown, Events& events, Watcher& watcher);

  /// Submits a transfer for which both processors are ready. `together`: whether it belongs to an exchange
  /// that both partners begin together.
  void submit(TransferId id, const Move& move, double wire, double now);

  void port_ready(TransferId id, double now);
  void flow_ends(TransferId id, std::uint32_t version, double now);
  /// Delays the message that `rank` is receiving, because the rank's processor does something else for
  /// `seconds`.
  void interrupt(Rank rank, double seconds, double now);
  /// Tells the network whether the processor of `rank` is busy. On a machine with processor_moves_bytes, the
  /// rank's port stops while the processor is busy.
  void processor_works(Rank rank, bool works);
  /// Computes new rates. Call it after all events that have the same time, and before the next event.
  void settle(double now);

  /// Returns the number of links of a transfer's route. Requires submit().
  std::size_t hops(TransferId id) const { return routes_of_[id].size(); }
  const NetworkCounts& counts() const { return counts_; }

 private:
  struct Journey {  // the state of a transfer
    Rank src = 0;
    Rank dst = 0;
    bool together = false;
    bool counted_node = false;
    bool counted_link = false;
    std::size_t held = 0;  // links that it has taken before its bytes begin; with holds_while_waiting only
    bool blocked = false;
    FlowId flow = -1;
    std::uint32_t version = 0;  // version of the event for its end
    double wire = 0;
    double left = 0;  // bytes that remained at the time `updated`
    double updated = 0;
    double rate = 0;
    double ends = 0;    // the time of its end at this rate
    double queued = 0;  // the time of the event in the queue; never after `ends`
  };
  struct Port {
    int sending = 0;
    int receiving = 0;   // incoming transfers that hold the port
    int moving_out = 0;  // outgoing transfers whose bytes move
    bool paused = false;
    double wire_in = 0;  // the sum of the sizes of incoming messages
    std::deque<TransferId> to_send;
    std::deque<TransferId> to_receive;  // transfers that wait for the receive port
  };
  struct Wire {  // a link that carries circuits
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
  double speed_;  // of a port, in bytes per second
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
  std::vector<std::vector<TransferId>> incoming_;  // by rank: transfers whose bytes move
  std::vector<ResourceId> resources_;              // scratch memory
  NetworkCounts counts_;
};

}  // namespace nuice::machine
