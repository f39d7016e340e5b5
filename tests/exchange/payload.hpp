// SPDX-License-Identifier: BSD-3-Clause
// Buffers with contents that tell where they come from, for tests of executors.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nuice/plan/serial_exchange.hpp"

namespace nuice::test {

/// The byte that `src` sends to `dst` at `offset` in the given round of an exchange. Never 0xEE: that is
/// poison.
inline std::byte payload_byte(Rank src, Rank dst, Bytes offset, unsigned round) {
  const auto mixed = static_cast<std::uint64_t>(offset) * 0x9E3779B97F4A7C15ULL +
                     static_cast<std::uint64_t>(src) * 7919U + static_cast<std::uint64_t>(dst) * 104729U +
                     round * 31U;
  return static_cast<std::byte>((mixed >> 7) % 0xEE);
}

inline constexpr std::byte poison{0xEE};
inline constexpr std::size_t guard_bytes = 16;  ///< Behind every receive buffer: must stay as they are.

/// One block of memory per partner.
using Blocks = std::vector<std::vector<std::byte>>;

inline Blocks payload_to_send(Rank rank, std::span<const Partner> destinations, unsigned round = 0) {
  Blocks blocks;
  for (const auto& [dst, bytes] : destinations) {
    blocks.emplace_back(static_cast<std::size_t>(bytes));
    for (Bytes i = 0; i < bytes; ++i)
      blocks.back()[static_cast<std::size_t>(i)] = payload_byte(rank, dst, i, round);
  }
  return blocks;
}

/// What must have come, guards included.
inline Blocks payload_expected(Rank rank, std::span<const Partner> sources, unsigned round = 0) {
  Blocks blocks;
  for (const auto& [src, bytes] : sources) {
    blocks.emplace_back(static_cast<std::size_t>(bytes) + guard_bytes, poison);
    for (Bytes i = 0; i < bytes; ++i)
      blocks.back()[static_cast<std::size_t>(i)] = payload_byte(src, rank, i, round);
  }
  return blocks;
}

inline Blocks poisoned(std::span<const Partner> sources) {
  Blocks blocks;
  for (const Partner& source : sources)
    blocks.emplace_back(static_cast<std::size_t>(source.bytes) + guard_bytes, poison);
  return blocks;
}

inline void poison_again(Blocks& blocks) {
  for (auto& block : blocks) block.assign(block.size(), poison);
}

inline std::vector<SendBuffer> send_buffers(const Blocks& blocks) {
  std::vector<SendBuffer> buffers;
  for (const auto& block : blocks) buffers.push_back({block.data(), static_cast<Bytes>(block.size())});
  return buffers;
}

/// Without the guards.
inline std::vector<ReceiveBuffer> receive_buffers(Blocks& blocks) {
  std::vector<ReceiveBuffer> buffers;
  for (auto& block : blocks)
    buffers.push_back({block.data(), static_cast<Bytes>(block.size() - guard_bytes)});
  return buffers;
}

/// All ranks in one process. receive[r]: the blocks of rank r after exchange_serially().
struct World {
  std::vector<Blocks> send;
  std::vector<Blocks> receive;

  explicit World(std::span<const PhaseTable> tables, unsigned round = 0) {
    for (const PhaseTable& table : tables) {
      send.push_back(payload_to_send(table.rank, table.destinations, round));
      receive.push_back(poisoned(table.sources));
    }
  }
  void exchange(std::span<const PhaseTable> tables) {
    std::vector<std::vector<SendBuffer>> from;
    std::vector<std::vector<ReceiveBuffer>> to;
    for (const Blocks& blocks : send) from.push_back(send_buffers(blocks));
    for (Blocks& blocks : receive) to.push_back(receive_buffers(blocks));
    exchange_serially(tables, from, to);
  }
};

}  // namespace nuice::test
