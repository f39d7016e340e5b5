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
  /// Whether the ranks are threads that run at the same time. If not, one rank runs at a time: when a poll
  /// finds nothing, and sometimes after a send, the seed determines which rank runs next. So the same seed
  /// gives the same run.
  bool concurrent = false;
  std::uint64_t seed = 0;
  /// The number of consecutive ranks that share an imaginary host. quiesce() then counts inside and between
  /// hosts, as over MPI with shared memory. 0: quiesce() uses reductions.
  Rank ranks_per_host = 0;
  std::size_t ring_bytes = 1U << 17;  ///< The size of the ring of each ordered pair of ranks; a power of two,
                                      ///< at least 1024.
};

/// Runs the program once per rank, each in a thread, and returns when all have ended. If ranks fail, throws
/// the exception of the lowest of them. The others are stopped in their next wait with Error `state`. In a
/// deadlock, throws Error `state`, unless concurrent is set.
void run_loopback(const LoopbackOptions& options,
                  const std::function<void(std::unique_ptr<Transport>)>& program);

struct ChaosOptions {
  std::uint64_t seed = 0;
  double delay = 0.5;    ///< The probability that a message is held back. Later messages to the same rank are
                         ///< then held back too.
  double release = 0.2;  ///< The probability, in each poll and for each rank, that the messages held back for
                         ///< the rank are sent.
  double starve = 0.2;   ///< Probability that try_send refuses.
};

/// Returns a transport that delays messages, so that messages of different pairs of ranks overtake each
/// other. Messages of one pair never do. It also refuses sends without need. The same seed gives the same
/// delays.
std::unique_ptr<Transport> with_chaos(std::unique_ptr<Transport> transport, const ChaosOptions& options = {});

}  // namespace nuice::am
