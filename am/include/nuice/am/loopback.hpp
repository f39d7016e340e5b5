// SPDX-License-Identifier: BSD-3-Clause
// Many ranks in one process, for tests and simulation; and the chaos decorator, which makes any transport as nasty as
// the guarantees allow.
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
  /// false: one rank runs at a time, and the seed says which one goes on whenever a poll finds nothing, and now and
  /// then after a send: the same seed gives the same run. true: the ranks are threads that run at the same time.
  bool concurrent = false;
  std::uint64_t seed = 0;
  /// Pretends that this number of consecutive ranks shares a host, and lets quiesce() count there and between hosts (several ranks sharing
  /// memory do, over MPI); 0: it goes by reductions.
  Rank ranks_per_host = 0;
  std::size_t ring_bytes = 1U << 17;  ///< For each ordered pair of ranks; a power of two, at least 1024.
};

/// Runs the program once for every rank, each in a thread, and returns when all have ended. Throws what the lowest
/// failing rank threw, the others being stopped in their next wait with Error state; Error state also when no rank
/// can go on (one at a time only: a deadlock).
void run_loopback(const LoopbackOptions& options,
                  const std::function<void(std::unique_ptr<Transport>)>& program);

struct ChaosOptions {
  std::uint64_t seed = 0;
  double delay = 0.5;    ///< Chance that a message waits here; those behind it to the same rank wait too.
  double release = 0.2;  ///< Chance, in each poll and for each rank, that what waits for it goes on.
  double starve = 0.2;   ///< Chance that try_send says no.
};

/// A transport that delays messages, so that they overtake each other between different pairs of ranks (never within
/// a pair), and refuses sends without need. Deterministic for a seed.
std::unique_ptr<Transport> with_chaos(std::unique_ptr<Transport> transport, const ChaosOptions& options = {});

}  // namespace nuice::am
