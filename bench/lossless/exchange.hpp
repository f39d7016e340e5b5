// SPDX-License-Identifier: BSD-3-Clause
// An exchange as RDMA cards carry it: a connection has a fixed number of packets in flight. There is no
// congestion control and no retransmission, so a missing packet is an error.
//
// The executor determines when messages are sent: async, phased or depend (nuice/core/executor.hpp).
// Acknowledgements and notifications are packets too, in the same queues as data.
#pragma once

#include <cstdint>
#include <vector>

#include "lossless/cards.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice::lossless {

struct ExchangeResult {
  double seconds = 0;
  std::vector<double> arrived_s;  ///< By transfer: when its last packet arrived.
  std::vector<float> gaps_s;      ///< Times between two packets of a transfer.
};

class Exchange {
 public:
  /// Throws Error not_applicable for other executors, and for schedules that forward messages.
  Exchange(Cards& cards, const Schedule& schedule, const Topology& topology, const Executor& executor,
           std::uint32_t window);

  /// Runs the exchange once; all packets carry this number. Throws Error state if a packet is lost or out of
  /// order, timeout after 10 s without a packet.
  ExchangeResult run(std::uint32_t number);

 private:
  struct Transfer {
    Rank src = 0;
    Rank dst = 0;
    PhaseId phase = 0;
    std::uint32_t packets = 0;
    std::int64_t path = no_path;
    std::uint32_t gates = 1;
    // The sender's state:
    std::uint32_t allowed = 0;
    std::uint32_t sent = 0;
    std::uint32_t acknowledged = 0;
    // The receiver's state:
    std::uint32_t came = 0;
    bool told = false;
    double last_s = 0;
  };
  struct Stage {  // a rank's transfers of a phase, in both directions
    PhaseId phase;
    std::uint32_t left;
    std::vector<std::uint32_t> sends;
  };

  void lay_stages();
  void start();
  void take(const Packet& packet);
  void take_data(std::uint32_t id, std::uint32_t number);
  void open(std::uint32_t id);
  void allow(std::uint32_t id, std::uint32_t packets);
  void complete(Rank rank, PhaseId phase);
  void enter(Rank rank);
  void tell(std::uint32_t id);
  void control(Kind kind, std::uint32_t id, std::uint32_t number);

  Cards& cards_;
  const Pace pace_;
  const std::uint32_t window_;
  std::vector<Transfer> fresh_;
  std::vector<std::vector<std::uint32_t>> after_;  // depend: the transfers that wait for each transfer
  std::vector<std::vector<Stage>> fresh_stages_;   // phased: stages by rank
  // The state of a run:
  std::uint32_t run_ = 0;
  std::vector<Transfer> transfers_;
  std::vector<std::vector<Stage>> stages_;
  std::vector<std::size_t> stage_of_;  // by rank
  std::size_t incomplete_ = 0;
  double began_s_ = 0;
  ExchangeResult result_;
};

}  // namespace nuice::lossless
