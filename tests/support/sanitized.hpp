// SPDX-License-Identifier: BSD-3-Clause
// For tests that are about figures, and need minutes under a sanitizer to say nothing about memory.
#pragma once

namespace nuice::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

}  // namespace nuice::test
