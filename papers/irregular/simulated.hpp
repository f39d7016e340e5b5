// SPDX-License-Identifier: BSD-3-Clause
// Charges simulated time. Under SimGrid's SMPI the programs really run, but only messages and these functions
// advance the clock. Elsewhere these functions do nothing.
//
// These functions charge processor time to a rank: the work of the algorithm, and the overhead of sending and
// receiving. The messages themselves then cost only latency. So do barriers and reductions, which have a
// network of their own on the CM-5. An item counts as one packet (bench/run.py irregular_smpi explains why).
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#ifdef NUICE_SMPI
#include <smpi/smpi.h>

#include <cstdio>
#include <cstdlib>
#endif

namespace nuice::irregular {

#ifdef NUICE_SMPI
/// Costs in seconds, read from NUICE_SMPI_COSTS in this order.
struct SimulatedCosts {
  double cell = 0;     ///< Per cell or site: four neighbours are tested.
  double message = 0;  ///< The time of a send/receive message at either end, in addition to its packets.
  double packet_sent = 0;
  double packet_received = 0;
};
inline const SimulatedCosts& simulated_costs() {
  static const SimulatedCosts costs = [] {
    SimulatedCosts read;
    const char* const text = std::getenv("NUICE_SMPI_COSTS");
    if (text != nullptr && std::sscanf(text, "%lf,%lf,%lf,%lf", &read.cell, &read.message, &read.packet_sent,
                                       &read.packet_received) != 4)
      std::abort();
    return read;
  }();
  return costs;
}
inline void simulated_seconds(double seconds) {
  constexpr double operations_per_second = 1e9;  // of the platform's processors
  if (seconds > 0) smpi_execute_flops(seconds * operations_per_second);
}
inline void simulated_cells(double cells) { simulated_seconds(cells * simulated_costs().cell); }
inline void simulated_send(std::size_t messages, std::size_t packets) {
  const SimulatedCosts& costs = simulated_costs();
  simulated_seconds(static_cast<double>(messages) * costs.message +
                    static_cast<double>(packets) * costs.packet_sent);
}
inline void simulated_receive(std::size_t messages, std::size_t packets) {
  const SimulatedCosts& costs = simulated_costs();
  simulated_seconds(static_cast<double>(messages) * costs.message +
                    static_cast<double>(packets) * costs.packet_received);
}
inline void simulated_work(std::size_t cells) { simulated_cells(static_cast<double>(cells)); }
/// The cost of an item that arrives, in cells. Its sender left the test of one neighbour to this rank (002
/// figs 23 and 25).
inline constexpr double cells_for_item = 0.25;
inline void simulated_items(std::size_t items) {
  simulated_cells(cells_for_item * static_cast<double>(items));
}
#else
inline void simulated_send(std::size_t /*messages*/, std::size_t /*packets*/) {}
inline void simulated_receive(std::size_t /*messages*/, std::size_t /*packets*/) {}
inline void simulated_work(std::size_t /*cells*/) {}
inline void simulated_items(std::size_t /*items*/) {}
#endif

/// Wraps emit() for a batch of cells. In the simulation, release() sends the items when the batch's work is
/// done.
template <typename Item, typename Emit>
class WorkFirst {
 public:
  explicit WorkFirst(Emit emit) : emit_(std::move(emit)) {}
  [[gnu::always_inline]] void operator()(std::size_t slot, Item item) {
#ifdef NUICE_SMPI
    items_.emplace_back(slot, item);
#else
    emit_(slot, item);
#endif
  }
  void release([[maybe_unused]] std::size_t cells) {
#ifdef NUICE_SMPI
    simulated_cells(static_cast<double>(cells) - cells_for_item * static_cast<double>(items_.size()));
    for (const auto& [slot, item] : items_) emit_(slot, item);
    items_.clear();
#endif
  }

 private:
  Emit emit_;
#ifdef NUICE_SMPI
  std::vector<std::pair<std::size_t, Item>> items_;
#endif
};
template <typename Item, typename Emit>
WorkFirst<Item, Emit> work_first(Emit emit) {
  return WorkFirst<Item, Emit>(std::move(emit));
}

}  // namespace nuice::irregular
