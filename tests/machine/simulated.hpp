// SPDX-License-Identifier: BSD-3-Clause
// Machines and matrices for the tests of the simulators.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "nuice/nuice.hpp"

namespace nuice::test {

/// 1 MB/s, 10 us to start; everything else costs nothing.
inline Machine plain(std::string_view topology) {
  Machine machine;
  machine.name = "plain";
  machine.topology = make_topology(topology);
  machine.byte_s = 1e-6;
  machine.start_up_s = 10e-6;
  return machine;
}

inline CommMatrix messages(Rank num_ranks, const std::vector<Message>& entries) {
  return CommMatrix::from_messages(num_ranks, entries);
}

/// Every rank sends `bytes` to the rank `shift` further.
inline CommMatrix shift(Rank num_ranks, Rank by, Bytes bytes) {
  std::vector<Message> entries;
  for (Rank rank = 0; rank < num_ranks; ++rank) entries.push_back({rank, (rank + by) % num_ranks, bytes});
  return messages(num_ranks, entries);
}

inline Simulation run(const CommMatrix& matrix, const Machine& machine, std::string_view scheduler = "ac",
                      const char* executor = "async", bool blocking = true) {
  return simulate(matrix, make_schedule(matrix, scheduler), machine,
                  {.executor = executor, .blocking_sends = blocking});
}

inline void expect_close(double seconds, double expected) {
  EXPECT_NEAR(seconds, expected, 1e-10 * expected);
}

struct Case {
  std::string name;
  Machine machine;
};

inline std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const ShippedMachine& shipped : shipped_machines()) {
    Machine machine = find_machine(shipped.name);
    machine.topology = make_topology("hypercube:4");
    cases.push_back({std::string(shipped.name), machine});
  }
  for (const char* topology : {"crossbar:16", "torus:4x4", "cm5:16"}) {
    for (const Duplex duplex : {Duplex::full, Duplex::paired, Duplex::half}) {
      for (const Switching switching : {Switching::packet, Switching::circuit}) {
        Machine machine = plain(topology);
        machine.duplex = duplex;
        machine.switching = switching;
        machine.eager_limit = 3000;
        machine.sends_at_once = duplex == Duplex::paired ? 0 : 1;
        machine.receives_at_once = switching == Switching::circuit ? 1 : 0;
        cases.push_back({topology, machine});
      }
    }
  }
  return cases;
}

inline const CommMatrix& law_matrix() {
  static const CommMatrix matrix = random_density(16, 0.4, {.unit_bytes = 500, .max_units = 12}, 7);
  return matrix;
}

}  // namespace nuice::test
