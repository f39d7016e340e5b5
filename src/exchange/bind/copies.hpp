// SPDX-License-Identifier: BSD-3-Clause
// What an executor does in addition where its messages lie in a copy of the user's memory (staging/device_run.hpp): before it sends
// some of it, it waits until that is filled, and what it has received it hands over, piece by piece.
#pragma once

#include <cstddef>

#include "mpi/requests.hpp"

namespace nuice::mpi {

class Copies {
 public:
  virtual ~Copies() = default;
  /// Returns when the memory up to the end of these bytes is filled. It is filled from lower addresses to higher ones. Bytes elsewhere
  /// are none of this.
  virtual void await(const Block& sent) = 0;
  /// Whether it would not wait.
  virtual bool is_filled(const Block& sent) = 0;
  /// These bytes have come. Once for every byte of an exchange. Others are ignored.
  virtual void land(const Block& received) = 0;
};

}  // namespace nuice::mpi
