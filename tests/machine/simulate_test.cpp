// SPDX-License-Identifier: BSD-3-Clause
// Laws of the simulator: what can be worked out by hand, and what must hold on every machine.
#include "nuice/simulate.hpp"

#include <gtest/gtest.h>

#include "nuice/nuice.hpp"

namespace nuice {
namespace {

/// 1 MB/s, 10 us to start; everything else costs nothing.
Machine plain(std::string_view topology) {
  Machine machine;
  machine.name = "plain";
  machine.topology = make_topology(topology);
  machine.byte_s = 1e-6;
  machine.start_up_s = 10e-6;
  return machine;
}

CommMatrix messages(Rank num_ranks, std::vector<Message> entries) {
  return CommMatrix::from_messages(num_ranks, entries);
}

TEST(Simulate, OneMessageTakesWhatTheFormulaSays) {
  Machine machine = plain("hypercube:3");
  machine.send_overhead_s = 1e-6;
  machine.receive_overhead_s = 2e-6;
  machine.latency_s = 3e-6;
  machine.hop_s = 4e-6;
  machine.packet_payload = 16;
  machine.packet_header = 4;
  const CommMatrix matrix = messages(8, {{0, 7, 1000}});
  const double expected = 1e-6 + 10e-6 + 63 * 20 * 1e-6 + 3e-6 + 3 * 4e-6 + 2e-6;
  for (const Executor executor : {Executor::async, Executor::phased, Executor::barrier, Executor::pairwise}) {
    const Simulation run = simulate(matrix, make_schedule(matrix, "ac"), machine, {.executor = executor});
    EXPECT_NEAR(run.seconds, expected, 1e-12 * expected) << executor_name(executor);
    EXPECT_EQ(run.delivered, std::vector<Bytes>{1000});
  }
}

}  // namespace
}  // namespace nuice
