// SPDX-License-Identifier: BSD-3-Clause
// Regions for profilers, as Caliper and Score-P, or timers of your own: what the library calls when a plan, an exchange or a phase begins and ends.
//
//   nuice::mpi::set_observer({.begin = [](void*, Region region, std::int64_t) { cali_begin_region(name_of(region)); },
//                             .end = ...});
#pragma once

#include <cstdint>

namespace nuice::mpi {

enum class Region : int {
  plan = 0,  ///< While a plan is made; which: 0.
  exchange =
      1,  ///< From start() to its end on this rank, in whatever call that is noticed; which: tells exchanges apart.
  phase = 2  ///< Of an executor that goes phase by phase; which: the number among this rank's, from 0.
};

/// Functions may be null. They are called by the thread that calls the library, and must not call it or throw. Exchanges may overlap,
/// so their regions need not be nested.
struct Observer {
  void (*begin)(void* data, Region region, std::int64_t which) = nullptr;
  void (*end)(void* data, Region region, std::int64_t which) = nullptr;
  void* data = nullptr;
};

/// Not collective. Replaces the one before; {}: none. Not while another thread is in a call of the library.
void set_observer(const Observer& observer);

}  // namespace nuice::mpi
