// SPDX-License-Identifier: BSD-3-Clause
// Work that a simulated machine has to be told of. Under SimGrid's SMPI the programs really run, but on a clock that
// only messages and this function move; elsewhere it does nothing.
#pragma once

#include <cstddef>

#ifdef NUICE_SMPI
#include <smpi/smpi.h>

#include <cstdlib>
#endif

namespace nuice::irregular {

#ifdef NUICE_SMPI
/// Operations for a cell or site, from the environment.
inline double simulated_operations() {
  static const double operations = [] {
    const char* const text = std::getenv("NUICE_SMPI_OPERATIONS");
    return text == nullptr ? 0.0 : std::atof(text);
  }();
  return operations;
}
inline void simulated_work(std::size_t cells) {
  if (cells != 0) smpi_execute_flops(static_cast<double>(cells) * simulated_operations());
}
#else
inline void simulated_work(std::size_t /*cells*/) {}
#endif

}  // namespace nuice::irregular
