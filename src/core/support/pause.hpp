// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace nuice {

/// Waits briefly between two reads of memory that another core will change.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace nuice
