// SPDX-License-Identifier: BSD-3-Clause
// For tests of what must not grow.
#pragma once

#include <unistd.h>

#include <fstream>

#include "nuice/core/types.hpp"

namespace nuice::test {

/// Of this process, in memory now. Linux.
inline Bytes resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  Bytes total = 0;
  Bytes resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace nuice::test
