// SPDX-License-Identifier: BSD-3-Clause
// A short message of several parts, which this rank gathers and scatters itself. MPI would do so from a derived datatype, but takes
// its slow path for one however short the message is.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "mpi/requests.hpp"

namespace nuice::mpi {

/// Above this size a message of parts is left to MPI: copying once more costs as much as what it saves. A
/// forwarded one has many small parts, for which MPI takes twice as long (docs/adr/0011), one of fields a few
/// large ones (bench/run.py fields).
constexpr Bytes packed_message_bytes = 16384;
constexpr Bytes packed_field_bytes = 2048;

struct PackedMessage {
  std::unique_ptr<std::byte[]> memory;  // as it travels
  std::vector<Block> blocks;            // where its parts are, or will be; none: MPI does it
  bool is_scattered = false;

  bool is_packed() const { return !blocks.empty(); }
  void gather() const {
    std::byte* to = memory.get();
    for (const auto& [at, bytes] : blocks) {
      std::memcpy(to, at, static_cast<std::size_t>(bytes));
      to += bytes;
    }
  }
  /// Once: the user may have the memory back already, message by message.
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

/// By request; empty where nothing is packed.
using PackedMessages = std::vector<PackedMessage>;

/// Before the receives are started.
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
