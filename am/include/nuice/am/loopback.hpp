// SPDX-License-Identifier: BSD-3-Clause
// Runs many ranks in one process, for tests and simulation. with_chaos() makes a transport that delays and
// refuses messages as much as the guarantees of a transport allow.
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
  /// Whether ranks run at the same time, as threads. If not, one rank runs at a time. When a poll finds no
  /// message, and sometimes after a send, the seed determines which rank runs next. So the same seed gives
  /// the same run.
  bool concurrent = false;
  std::uint64_t seed = 0;
  /// The number of consecutive ranks that share an imaginary host. quiesce() then counts messages inside and
  /// between hosts, as over MPI with shared memory. 0: quiesce() uses reductions.
  Rank ranks_per_host = 0;
  /// The size of the ring of each ordered pair of ranks: a power of two, at least 1024.
  std::size_t ring_bytes = 1U << 17;
};

/// Runs the program once per rank, each in its own thread, and returns when all ranks have ended. If ranks
/// fail, throws the exception of the lowest failed rank; the other ranks are stopped in their next wait by
/// Error with code `state`. In a deadlock, also throws Error with code `state`, unless options.concurrent is
/// set.
void run_loopback(const LoopbackOptions& options,
                  const std::function<void(std::unique_ptr<Transport>)>& program);

struct ChaosOptions {
  std::uint64_t seed = 0;
  /// The probability that a message is delayed; later messages to the same rank are then delayed too.
  double delay = 0.5;
  /// The probability, in each poll and for each destination, that the delayed messages to this destination
  /// are sent.
  double release = 0.2;
  double starve = 0.2;  ///< The probability that try_send() refuses a message.
};

/// Returns a transport that sometimes delays messages and refuses sends, although there is room. Messages of
/// different pairs of ranks overtake each other; messages of one pair never do. The behaviour is
/// deterministic for a seed.
std::unique_ptr<Transport> with_chaos(std::unique_ptr<Transport> transport, const ChaosOptions& options = {});

}  // namespace nuice::am
