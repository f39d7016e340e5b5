// SPDX-License-Identifier: BSD-3-Clause
// A short message of several parts, which this rank gathers and scatters itself. MPI could use a derived
// datatype, but handles even short ones on its slow path.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "mpi/requests.hpp"

namespace nuice::mpi {

/// Larger messages of several parts are left to MPI, because another copy would cost as much as it saves. The
/// limit is higher for a forwarded message, which has many small parts, for which MPI takes twice as long
/// (docs/adr/0011). A message of fields has a few large parts (bench/run.py fields).
constexpr Bytes packed_message_bytes = 16384;
constexpr Bytes packed_field_bytes = 2048;

struct PackedMessage {
  std::unique_ptr<std::byte[]> memory;  // the packed message
  std::vector<Block> blocks;            // where the parts lie; empty if MPI handles the message
  bool is_scattered = false;

  bool is_packed() const { return !blocks.empty(); }
  void gather() const {
    std::byte* to = memory.get();
    for (const auto& [at, bytes] : blocks) {
      std::memcpy(to, at, static_cast<std::size_t>(bytes));
      to += bytes;
    }
  }
  /// Scatters the parts once. Exchanges hand over messages one by one, so the user may already use the memory
  /// again.
  void scatter() {
    if (is_scattered) return;
    is_scattered = true;
    const std::byte* from = memory.get();
    for (const auto& [at, bytes] : blocks) {
      std::memcpy(at, from, static_cast<std::size_t>(bytes));
      from += bytes;
    }
  }
};

/// By request; empty if no message is packed.
using PackedMessages = std::vector<PackedMessage>;

/// Marks messages as expected in this exchange. Call it before the receives are started.
inline void expect(std::span<PackedMessage> messages) {
  for (PackedMessage& message : messages) message.is_scattered = false;
}
inline void gather(std::span<const PackedMessage> messages, std::size_t begin, std::size_t end) {
  if (messages.empty()) return;
  for (std::size_t i = begin; i < end; ++i) messages[i].gather();
}
inline void scatter(std::span<PackedMessage> messages, std::size_t begin, std::size_t end) {
  if (messages.empty()) return;
  for (std::size_t i = begin; i < end; ++i) messages[i].scatter();
}

}  // namespace nuice::mpi
