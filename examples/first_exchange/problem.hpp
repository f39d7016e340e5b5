// SPDX-License-Identifier: BSD-3-Clause
// The problem that both programs solve: an irregular pattern in which every rank knows only its destinations.
#pragma once

#include <vector>

/// The numbers that one rank has for another.
struct Outgoing {
  int dst;
  std::vector<double> values;
};

inline std::vector<Outgoing> make_outgoing(int rank, int num_ranks) {
  std::vector<Outgoing> all;
  for (int dst = 0; dst < num_ranks; ++dst)
    if ((rank + dst * dst) % 3 != 1) all.push_back({dst, std::vector<double>(1000 * (1 + (rank + dst) % 5))});
  return all;
}

/// New numbers in the same memory.
inline void compute(std::vector<Outgoing>& all, int rank, int round) {
  for (Outgoing& one : all)
    for (double& value : one.values) value = rank + 100 * one.dst + round;
}

constexpr int num_rounds = 10;
