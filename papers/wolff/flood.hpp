// SPDX-License-Identifier: BSD-3-Clause
// Measures the cost of an item for a rank that sends one and receives one, from which the report computes
// when a scheme pays off.
#pragma once

#include <numeric>

#include "irregular/with_scheme.hpp"
#include "kit/statistics.hpp"

namespace nuice::wolff {

/// Sends this many items to every neighbour in each of two levels, and adds up the items that come.
struct Flood {
  using Item = std::uint64_t;
  static constexpr bool ordered = false;
  static constexpr Item items = 50000;
  static constexpr int levels = 2;
  static constexpr Item items_to_poll = 256;

  std::size_t num_neighbours;
  int levels_left = levels;
  Item sum = 0;

  template <class Scheme>
  void expand(Scheme& scheme) {
    if (levels_left == 0) return;
    for (Item item = 0; item < items; ++item) {
      for (std::size_t slot = 0; slot < num_neighbours; ++slot) scheme.emit(slot, item);
      if (item % items_to_poll == 0) scheme.poll();
    }
    --levels_left;
  }
  void absorb(std::span<const Item> come, irregular::Level) {
    sum = std::accumulate(come.begin(), come.end(), sum);
  }
  void next_level() {}
  irregular::Vote vote() const { return {levels_left == 0, false}; }
};

/// Collective. Returns this rank's median seconds per item over several repetitions.
inline double item_seconds(MPI_Comm comm, const irregular::SchemeOptions& options,
                           const std::vector<Rank>& neighbours) {
  constexpr int reps = 5;
  Flood flood{neighbours.size()};
  std::vector<double> seconds;
  irregular::with_scheme(comm, options, neighbours, flood, [&](auto& scheme) {
    for (int rep = 0; rep < reps; ++rep) {
      flood.levels_left = Flood::levels;
      MPI_Barrier(comm);
      const double begin = MPI_Wtime();
      irregular::run(scheme, flood, 1);
      seconds.push_back(MPI_Wtime() - begin);
    }
  });
  return kit::median(seconds) / (Flood::levels * static_cast<double>(Flood::items * neighbours.size()));
}

}  // namespace nuice::wolff
