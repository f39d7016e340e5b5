// SPDX-License-Identifier: BSD-3-Clause
// Around every call that passes this library: what MPI, a tool, an error handler or this library itself
// calls inside another one goes on to MPI as it is.
#pragma once

#include "run/mpi.hpp"

namespace nuice::dropin {

class Watch {
 public:
  /// from: the return address. is_profiling: of a PMPI function.
  Watch(const void* from, bool is_profiling)
      : is_outermost_(depth_++ == 0 && !(is_profiling && run::is_own_call(from))) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { --depth_; }
  bool is_outermost() const { return is_outermost_; }

 private:
  static thread_local inline int depth_ = 0;
  bool is_outermost_;
};

}  // namespace nuice::dropin
