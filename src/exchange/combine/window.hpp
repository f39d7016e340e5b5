// SPDX-License-Identifier: BSD-3-Clause
// The shared memory through which the ranks of a host pass messages and notifications. Exchanges are numbered
// from 1. They use the two halves of the memory alternately, so a rank may be one exchange ahead of the
// others.
//
// A half may be overwritten when all its readers have finished the exchange that used the half before:
// finished >= number - 2.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/support/bell.hpp"
#include "exchange/shared_memory/mailboxes.hpp"

namespace nuice::mpi {

/// The counters of a rank. The rank itself writes `posted` and `finished`. Ranks that bring data to it
/// increment `arrived`.
struct alignas(64) RankLine {
  std::atomic<Number> posted;  ///< The last exchange for which the rank has written its messages.

  /// The last exchange whose memory the rank neither reads nor sends any more.
  std::atomic<Number> finished;
  /// The number of blocks, plus the number of ranks of this host, that bring data to the rank. Fixed at bind
  /// time.
  Number expected;
  /// How many blocks and ranks have brought their data, by half.
  alignas(64) std::array<std::atomic<Number>, 2> arrived;
  Bell bell;
};

/// The counters of a block that goes to another host or comes from one.
struct alignas(64) BlockLine {
  /// For a block to another host: the number of ranks that have written their part, by half.
  std::array<std::atomic<Number>, 2> ready;
  /// For a block from another host: the last exchange whose block has arrived.
  std::atomic<Number> landed;
};

/// The layout of the memory: counters, then two halves.
struct Window {
  std::span<RankLine> ranks;
  std::span<BlockLine> outgoing;
  std::span<BlockLine> incoming;
  std::array<std::byte*, 2> halves = {};

  static std::size_t bytes_for(std::size_t ranks, std::size_t outgoing, std::size_t incoming,
                               std::size_t half) {
    return ranks * sizeof(RankLine) + (outgoing + incoming) * sizeof(BlockLine) + 2 * half;
  }
  /// Requires zeroed memory of bytes_for() bytes.
  Window(std::byte* memory, std::size_t num_ranks, std::size_t num_outgoing, std::size_t num_incoming,
         std::size_t half)
      : ranks(reinterpret_cast<RankLine*>(memory), num_ranks),
        outgoing(reinterpret_cast<BlockLine*>(memory + num_ranks * sizeof(RankLine)), num_outgoing),
        incoming(outgoing.data() + num_outgoing, num_incoming),
        halves{reinterpret_cast<std::byte*>(incoming.data() + num_incoming),
               reinterpret_cast<std::byte*>(incoming.data() + num_incoming) + half} {}
};

}  // namespace nuice::mpi
