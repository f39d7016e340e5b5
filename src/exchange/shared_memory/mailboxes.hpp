// SPDX-License-Identifier: BSD-3-Clause
// Mailboxes in memory that the ranks of a host share. Each message between two ranks has a mailbox with a few
// slots.
//
// Exchanges are numbered from 1. Exchange k uses slot k mod num_slots of every mailbox. When the message is
// in the slot, the slot's number becomes k. A slot is overwritten only after its reader has finished the
// exchange that used the slot before. So a rank may be several exchanges ahead of another.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/support/cache_line.hpp"
#include "core/support/round_up.hpp"
#include "nuice/core/types.hpp"

namespace nuice::mpi {

using Number = std::uint32_t;

/// The minimum number of slots: one is read while the next is written.
inline constexpr Number least_slots = 2;

/// Whether a counter has reached `number`. Counters wrap around, so counter and number must be close to each
/// other.
inline bool has_reached(const std::atomic<Number>& counter, Number number) {
  return static_cast<std::int32_t>(counter.load(std::memory_order_acquire) - number) >= 0;
}

/// The counter of a rank that reads.
struct alignas(cache_line_bytes) ReaderLine {
  std::atomic<Number> finished;  ///< The last exchange of which the rank has read all messages.
};

/// The number comes first, so that a short message and its number are one cache line.
struct Slot {
  std::atomic<Number> number;
  alignas(8) std::byte message[1];
};

/// A mailbox in zeroed memory.
struct Mailbox {
  std::byte* memory;
  std::size_t slot_bytes;
  Number num_slots;  // a power of two

  Slot& slot(Number number) const {
    return *reinterpret_cast<Slot*>(memory + (number & (num_slots - 1)) * slot_bytes);
  }
  /// The size of a slot. Long messages get whole cache lines. Slots of short messages share a cache line,
  /// which then passes from core to core only once for all of them.
  static std::size_t slot_bytes_for(Bytes message_bytes) {
    const std::size_t bytes = offsetof(Slot, message) + static_cast<std::size_t>(message_bytes);
    const std::size_t unit = bytes <= cache_line_bytes / 2 ? cache_line_bytes / 4 : cache_line_bytes;
    return round_up(bytes, unit);
  }
};
static_assert(std::atomic<Number>::is_always_lock_free);

}  // namespace nuice::mpi
