// SPDX-License-Identifier: BSD-3-Clause
// What is sent, and the proof that it arrived: the byte at each offset of each message depends on (src, dst,
// offset).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nuice/core/phase_table.hpp"

namespace nuice::bench {

/// Writes the message from src to dst.
void fill(std::span<std::byte> message, Rank src, Rank dst);
/// Writes something that differs from that message in every byte.
void poison(std::span<std::byte> message, Rank src, Rank dst);
/// The offset of the first byte that is not the message's.
std::optional<std::size_t> first_wrong_byte(std::span<const std::byte> message, Rank src, Rank dst);

/// Messages to or from several partners, one behind the other in one block of memory.
struct Messages {
  std::vector<Partner> partners;
  std::vector<std::size_t> offsets;  // by partner
  std::vector<std::byte> memory;

  Messages() = default;
  explicit Messages(std::vector<Partner> with);
  std::span<std::byte> message(std::size_t partner);
  /// Of all partners, as plans take them.
  template <typename Buffer>
  std::vector<Buffer> buffers() {
    std::vector<Buffer> all;
    for (std::size_t i = 0; i < partners.size(); ++i) all.push_back({message(i).data(), partners[i].bytes});
    return all;
  }
};

/// One rank's buffers.
class Payload {
 public:
  Payload(Rank rank, std::vector<Partner> destinations, std::vector<Partner> sources);
  /// The same message for all: what goes from root to root. The root has it in send, who needs it gets it
  /// into receive, and others have neither.
  static Payload of_broadcast(Rank rank, Rank root, Bytes bytes, bool needs_it);

  void poison_received();
  /// Empty, or "rank 1 -> rank 2: byte 17 of 100 is wrong".
  std::string verify_received();
  /// Collective. Throws Error mismatch, on all ranks, unless what a method found out is what the matrix says.
  void check_sources(std::span<const Partner> found) const;

  Rank rank;
  Rank written_for;  // what the received bytes depend on beside their source: rank, or the root
  Messages send;
  Messages receive;
};

}  // namespace nuice::bench
