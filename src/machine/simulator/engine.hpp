// SPDX-License-Identifier: BSD-3-Clause
// Runs a program: a processor for each rank, the network between them, and the events in their order.
//
// A processor does one thing at a time. While it waits, it completes messages in the order in which they
// arrived. To complete a message takes receive_overhead, and the time of a copy if the message arrived before
// its receive was posted.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "machine/simulator/events.hpp"
#include "machine/simulator/network.hpp"
#include "machine/simulator/program.hpp"
#include "machine/simulator/record.hpp"
#include "nuice/plan/simulate.hpp"

namespace nuice::machine {

/// The parameters of DRS_N.
struct Handshakes {
  std::vector<std::vector<TransferId>> to_send;  // by rank: its messages in the order in which it tries them
  double retry_delay_s = 0;
};

class Engine : private Watcher {
 public:
  Engine(const Machine& machine, Program program, std::vector<double> slowdown, bool keep_timeline);

  /// Sets the parameters for programs that contain the operation `serve`.
  void set_handshakes(Handshakes handshakes);

  /// Runs to the end. Calls complete(transfer) for each transfer that arrives. Throws Error `state` if ranks
  /// would wait forever.
  template <typename Complete>
  Simulation run(Complete complete) {
    run_events();
    for (TransferId id = 0; id < flights_.size(); ++id) {
      if (flights_[id].complete) complete(id);
    }
    return finish();
  }

 private:
  static constexpr std::uint32_t no_transfer = ~0U;

  struct Flight {  // the state of a transfer
    bool eager = false;
    bool posted = false;
    bool waits_for_post = false;
    bool arrived = false;
    bool unexpected = false;
    bool buffered = false;
    bool complete = false;
    bool blocked = false;
    double send_since = 0;
    double receive_since = 0;
  };

  /// The state of a rank in DRS_N, between two transfers.
  enum class Serving : std::uint8_t {
    choosing,
    asking,
    hoping,
    judging,
    delaying,
    launching,
    sending,
    releasing
  };

  struct Processor {
    std::size_t next_op = 0;
    bool busy = false;
    bool done = false;
    double busy_until = 0;
    std::uint32_t version = 0;  // version of the event that ends its work
    double work_since = 0;
    double waiting_since = -1;              // below 0: it does not wait
    std::uint32_t receiving = no_transfer;  // the transfer that it is completing
    std::uint32_t sends = 0;                // transfers that were launched and have not left
    std::uint32_t receives = 0;             // posted receives that are not complete
    std::deque<TransferId> inbox;           // transfers that have arrived and were posted
    Bytes buffered = 0;
    bool met = false;
    // DRS_N
    Serving serving = Serving::choosing;
    std::vector<TransferId> to_send;
    std::size_t trying = 0;
    bool locked = false;
    bool answered = false;
    bool granted = false;
    double handler_until = 0;  // when it can handle the next inquiry
    double refused_at = -1;    // when it was refused last
  };
  Rank num_ranks() const { return static_cast<Rank>(processors_.size()); }
  static std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }

  void run_events();
  void handle(const Event& event);
  Simulation finish();
  std::string stuck_text() const;

  // processors
  void advance(Rank rank);
  bool step(Rank rank);
  bool run_op(Rank rank, const Op& op);
  void work(Rank rank, double seconds);
  void work_ends(Rank rank, std::uint32_t version);
  void stop_waiting(Processor& processor, Rank rank);
  void take_from_inbox(Rank rank);
  void complete_receive(Rank rank, TransferId id);
  bool meet(Rank rank, std::uint32_t id);

  // transfers
  void launch(TransferId id);
  void post(TransferId id);
  void shake_hands(TransferId id);
  void submit(TransferId id);
  void arrives(TransferId id);
  void port_taken(TransferId id, double now) override;
  void blocked(TransferId id, double now) override;
  void bytes_begin(TransferId id, double now) override;
  void left(TransferId id, double now) override;
  void record(TransferId id, Rank rank, Activity activity, double begin, double end);

  // handshakes
  bool serve(Rank rank);
  void finish_handshake(Processor& processor);
  void inquiry(Rank rank);
  void release(Rank rank);
  double interrupt(Rank rank, double cost);
  void refused(Rank rank);

  const Machine& machine_;
  Program program_;
  Events events_;
  Network network_;
  Record record_;
  std::vector<Processor> processors_;
  std::vector<Flight> flights_;
  double now_ = 0;
  double retry_delay_s_ = 0;
  std::uint64_t inquiries_ = 0;
  std::uint64_t refusals_ = 0;
};

}  // namespace nuice::machine
