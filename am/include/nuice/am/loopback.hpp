// SPDX-License-Identifier: BSD-3-Clause
// Runs many ranks in one process, for tests and simulation. A decorator (chaos) delays and refuses messages
// as much as the guarantees of a transport allow.
//
//   am::run_loopback({.num_ranks = 4}, [](std::unique_ptr<am::Transport> transport) {
//     am::Endpoint ep(std::move(transport));  ...                       // the program of one rank
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "nuice/am/transport.hpp"
#include "nuice/core/types.hpp"

namespace nuice::am {

struct LoopbackOptions {
  Rank num_ranks = 1;
  /// false: one rank runs at a time. When a poll finds nothing, and sometimes after a send, the seed
  /// determines which rank runs next, so the same seed gives the same run. true: the ranks are threads that
  /// run at the same time.
  bool concurrent = false;
  std::uint64_t seed = 0;
  /// The number of consecutive ranks that share an imaginary host, so that quiesce() counts inside and
  /// between hosts, as over MPI with shared memory; 0: quiesce() uses reductions.
  Rank ranks_per_host = 0;
  std::size_t ring_bytes = 1U << 17;  ///< Per ordered pair of ranks; a power of two, at least 1024.
};

/// Runs the program once per rank, each in a thread, and returns when all have ended. If ranks fail, throws
/// the exception of the lowest one; the others are stopped in their next wait with Error state. Also throws
/// Error state in a deadlock, unless concurrent.
void run_loopback(const LoopbackOptions& options,
                  const std::function<void(std::unique_ptr<Transport>)>& program);

struct ChaosOptions {
  std::uint64_t seed = 0;
  double delay = 0.5;    ///< Probability that a message waits here; later messages to the same rank wait too.
  double release = 0.2;  ///< Probability, in each poll and for each rank, that the messages waiting for it
                         ///< are sent.
  double starve = 0.2;   ///< Probability that try_send refuses.
};

/// Returns a transport that delays messages, so that messages of different pairs of ranks overtake each other
/// (messages of one pair never do), and that refuses sends without need. Deterministic for a seed.
std::unique_ptr<Transport> with_chaos(std::unique_ptr<Transport> transport, const ChaosOptions& options = {});

}  // namespace nuice::am
