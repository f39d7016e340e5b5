// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a host tell each other in the memory that they share. Exchanges are numbered from 1 on; every second
// one uses the same half of the memory, so a rank may be one exchange ahead of the others.
//
// A half is written again when all its readers have finished the exchange before the last: finished >= number - 2.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/support/bell.hpp"
#include "exchange/shared_memory/mailboxes.hpp"

namespace nuice::mpi {

/// Of a rank. What it says itself, and what others tell it.
struct alignas(64) RankLine {
  std::atomic<Number> posted;    ///< What it has for this host is in the memory.
  std::atomic<Number> finished;  ///< It reads and sends no more of it.
  Number expected;  ///< Blocks, and ranks of this host, that bring it something. Fixed when bound.
  alignas(64) std::array<std::atomic<Number>, 2> arrived;  ///< Of those, by half.
  Bell bell;
};

/// Of a block to another host, or from one.
struct alignas(64) BlockLine {
  std::array<std::atomic<Number>, 2> ready;  ///< To another: ranks that have written their part, by half.
  std::atomic<Number> landed;                ///< From another: it is here.
};

/// The memory itself: lines, then two halves.
struct Window {
  std::span<RankLine> ranks;
  std::span<BlockLine> outgoing;
  std::span<BlockLine> incoming;
  std::array<std::byte*, 2> halves = {};

  static std::size_t bytes_for(std::size_t ranks, std::size_t outgoing, std::size_t incoming,
                               std::size_t half) {
    return ranks * sizeof(RankLine) + (outgoing + incoming) * sizeof(BlockLine) + 2 * half;
  }
  /// In zeroed memory of bytes_for() bytes.
  Window(std::byte* memory, std::size_t num_ranks, std::size_t num_outgoing, std::size_t num_incoming,
         std::size_t half)
      : ranks(reinterpret_cast<RankLine*>(memory), num_ranks),
        outgoing(reinterpret_cast<BlockLine*>(memory + num_ranks * sizeof(RankLine)), num_outgoing),
        incoming(outgoing.data() + num_outgoing, num_incoming),
        halves{reinterpret_cast<std::byte*>(incoming.data() + num_incoming),
               reinterpret_cast<std::byte*>(incoming.data() + num_incoming) + half} {}
};

}  // namespace nuice::mpi
