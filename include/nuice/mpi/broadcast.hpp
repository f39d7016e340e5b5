// SPDX-License-Identifier: BSD-3-Clause
// Planned broadcasts on MPI: one message from a root to all ranks, or to a selected group (001 s.3.6).
//
//   nuice::mpi::BroadcastPlan plan(comm, {.root = 0, .bytes = 4096, .group = {{1, 2, 5}}});
//   nuice::mpi::Exchange broadcast = plan.bind(buffer, 4096);   // read on the root, written on the others
//   for (...) { broadcast.start(); /* work */ broadcast.wait(); }
//
// The exchange behaves as those of nuice/mpi/plan.hpp: start, test, wait, free and errors are the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nuice/core/broadcast.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// Must be equal on all ranks; the group may be in any order.
struct BroadcastOptions {
  Rank root = 0;
  Bytes bytes = 0;  ///< Size of the message. 0: nothing is sent.
  std::optional<std::vector<Rank>> group =
      {};  ///< The ranks that need the message; nothing: all. The root need not be in it.
  std::string broadcaster = "reb";  ///< A name of nuice::broadcasters().
  /// A name of nuice::executors(). With phases, a rank sends to one rank after the other, in the order of the
  /// steps; async sends to all at once.
  std::string executor{default_executor};
};

/// Facts about a broadcast. Equal on all ranks.
struct BroadcastInfo {
  std::string broadcaster;
  Rank root = 0;
  Bytes bytes = 0;
  std::string executor;
  Rank num_members = 0;  ///< Number of ranks that have the message in the end, the root included.
  std::uint32_t num_steps = 0;
  double plan_s = 0;  ///< Time to agree, plan and check; the maximum over the ranks.
};

/// A checked broadcast, sliced for this rank.
class BroadcastPlan {
 public:
  /// Collective over parent, which is duplicated. Ranks outside the group must call it too, and have nothing
  /// to do afterwards. O(ranks) time; memory grows with the copies that this rank sends.
  /// Throws Error, the same on all ranks:
  ///   invalid_argument  a root or member that is not a rank, a member given twice, a negative size, an unknown
  ///                     broadcaster, an executor other than phased and async, a null communicator or an
  ///                     intercommunicator
  ///   limit             more than max_bytes
  ///   mismatch          options that differ between ranks
  ///   state, mpi        as Plan
  BroadcastPlan(MPI_Comm parent, const BroadcastOptions& options);

  BroadcastPlan(BroadcastPlan&&) noexcept;
  BroadcastPlan& operator=(BroadcastPlan&&) noexcept;
  ~BroadcastPlan();  ///< As free(), unless MPI is finalized.

  // The functions below throw Error state after free().

  const BroadcastTable& table() const;
  const BroadcastInfo& info() const;

  /// Collective. Makes the persistent requests for this buffer with room for `room` bytes, which must stay
  /// valid until Exchange::free(). Ranks that take no part may pass nullptr. May be called any number of
  /// times.
  /// Throws Error, the same on all ranks: invalid_argument for a buffer that is null or too small (the rank
  /// is named); limit where the message is larger than this MPI can send; state after free().
  Exchange bind(void* buffer, Bytes room);

  /// Collective. As Plan::free().
  void free();

 private:
  struct State;
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace nuice::mpi
