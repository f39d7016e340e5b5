// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace nuice {

/// Between two looks at memory that another core is to change.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace nuice
