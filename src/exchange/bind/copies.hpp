// SPDX-License-Identifier: BSD-3-Clause
// What an executor must do if its messages lie in a copy of the user's memory (staging/device_run.hpp).
// Before it sends bytes, it waits until they are filled, and it reports received bytes piece by piece.
#pragma once

#include <cstddef>

#include "mpi/requests.hpp"

namespace nuice::mpi {

class Copies {
 public:
  virtual ~Copies() = default;
  /// Returns when the memory is filled up to the end of these bytes. Memory is filled from lower to higher
  /// addresses. Does nothing for bytes in other memory.
  virtual void await(const Block& sent) = 0;
  /// Whether await() would return at once.
  virtual bool is_filled(const Block& sent) = 0;
  /// Reports received bytes. Every byte is reported once per exchange. Does nothing for bytes in other
  /// memory.
  virtual void land(const Block& received) = 0;
};

}  // namespace nuice::mpi
