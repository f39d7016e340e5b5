// SPDX-License-Identifier: BSD-3-Clause
// The defaults of the executors credit and depend, for their execution and their prediction.
#pragma once

#include "nuice/core/types.hpp"

namespace nuice {

inline constexpr Bytes default_chunk_bytes = 3584;
inline constexpr Bytes default_window_bytes =
    28672;  ///< Seven eighths of a switch queue of 32 KiB: headers come on top.

/// Executor depend: bytes that a message has left when its successors are notified. About what a port of 200 Gbit/s
/// carries during two latencies; with more, two transfers overlap on a link.
inline constexpr Bytes default_early_bytes = 49152;

}  // namespace nuice
