// SPDX-License-Identifier: BSD-3-Clause
// Regions for profilers such as Caliper and Score-P, or for your own timers: the library calls your functions
// when a plan, an exchange or a phase begins and ends.
//
//   nuice::mpi::set_observer({
//       .begin = [](void*, Region region, std::int64_t) { cali_begin_region(name_of(region)); },
//       .end = ...});
#pragma once

#include <cstdint>

namespace nuice::mpi {

enum class Region : int {
  plan = 0,  ///< A plan is made; `which` is 0.
  /// An exchange, from start() to the call that completes it on this rank; `which` identifies the exchange.
  exchange = 1,
  phase = 2  ///< A phase of an executor with phases; `which` is its number among this rank's phases, from 0.
};

/// Functions that the library calls when a region begins and ends, in the thread that has called the library.
/// They may be null, and must not call the library or throw. Exchanges may overlap, so their regions need not
/// be nested.
struct Observer {
  void (*begin)(void* data, Region region, std::int64_t which) = nullptr;
  void (*end)(void* data, Region region, std::int64_t which) = nullptr;
  void* data = nullptr;
};

/// Not collective. Replaces the previous observer; {} removes it. No other thread may be inside a call of the
/// library.
void set_observer(const Observer& observer);

}  // namespace nuice::mpi
