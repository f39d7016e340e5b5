// SPDX-License-Identifier: BSD-3-Clause
// The data that are sent, and the check that they arrived: the byte at each offset of each message depends on
// (src, dst, offset).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kit/errors.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/core/random.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::bench {

inline std::vector<std::size_t> offsets_of(const std::vector<Partner>& partners) {
  std::vector<std::size_t> offsets;
  std::size_t end = 0;
  for (const Partner& partner : partners) {
    offsets.push_back(end);
    end += static_cast<std::size_t>(partner.bytes);
  }
  return offsets;
}

/// Messages to or from several partners, contiguous in one block of memory.
struct Messages {
  std::vector<Partner> partners;
  std::vector<std::size_t> offsets;  // by partner
  std::vector<std::byte> memory;

  Messages() = default;

  explicit Messages(std::vector<Partner> with) : partners(std::move(with)), offsets(offsets_of(partners)) {
    if (!partners.empty()) memory.resize(offsets.back() + static_cast<std::size_t>(partners.back().bytes));
  }

  std::span<std::byte> message(std::size_t partner) {
    return {memory.data() + offsets[partner], static_cast<std::size_t>(partners[partner].bytes)};
  }

  /// Returns the buffers of all partners in the form that plans need.
  template <typename Buffer>
  std::vector<Buffer> buffers() {
    std::vector<Buffer> all;
    for (std::size_t i = 0; i < partners.size(); ++i) all.push_back({message(i).data(), partners[i].bytes});
    return all;
  }
};

inline std::byte byte_of(std::uint64_t word, std::size_t i) {
  return static_cast<std::byte>(word >> (8 * i));
}

inline constexpr std::size_t word_bytes = 8;

/// Calls visit(offset, word, count) for every word of the message. Bytes 0 .. count - 1 of the word are at
/// offset.
template <typename Visit>
void for_each_word(std::size_t bytes, Rank src, Rank dst, Visit visit) {
  const std::uint64_t key = mix64((static_cast<std::uint64_t>(src) << 32) | static_cast<std::uint32_t>(dst));
  for (std::size_t offset = 0; offset < bytes; offset += word_bytes)
    visit(offset, mix64(key ^ offset), std::min(word_bytes, bytes - offset));
}

/// Writes data that differ from the message in every byte.
inline void poison(std::span<std::byte> message, Rank src, Rank dst) {
  for_each_word(message.size(), src, dst, [&](std::size_t offset, std::uint64_t word, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) message[offset + i] = ~byte_of(word, i);
  });
}

/// Returns the offset of the first wrong byte, or nothing.
inline std::optional<std::size_t> first_wrong_byte(std::span<const std::byte> message, Rank src, Rank dst) {
  std::optional<std::size_t> wrong;
  for_each_word(message.size(), src, dst, [&](std::size_t offset, std::uint64_t word, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (message[offset + i] != byte_of(word, i) && !wrong) wrong = offset + i;
  });
  return wrong;
}

/// Writes the message from src to dst.
inline void fill(std::span<std::byte> message, Rank src, Rank dst) {
  for_each_word(message.size(), src, dst, [&](std::size_t offset, std::uint64_t word, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) message[offset + i] = byte_of(word, i);
  });
}

/// The buffers of one rank.
class Payload {
 public:
  Payload(Rank rank_, std::vector<Partner> destinations, std::vector<Partner> sources)
      : rank(rank_), written_for(rank_), send(std::move(destinations)), receive(std::move(sources)) {
    for (std::size_t i = 0; i < send.partners.size(); ++i) fill(send.message(i), rank, send.partners[i].rank);
  }

  /// Returns the payload of a broadcast, which is a message from the root to the root. The root has it in
  /// `send`. A rank that needs it receives it in `receive`. Other ranks have neither.
  static Payload of_broadcast(Rank rank, Rank root, Bytes bytes, bool needs_it) {
    const std::vector<Partner> message = {{root, bytes}};
    const bool has_it = rank == root;
    Payload payload(root, has_it ? message : std::vector<Partner>{},
                    needs_it && !has_it ? message : std::vector<Partner>{});
    payload.rank = rank;
    return payload;
  }

  void poison_received() {
    for (std::size_t i = 0; i < receive.partners.size(); ++i)
      poison(receive.message(i), receive.partners[i].rank, written_for);
  }

  /// Verifies the received bytes. Returns an empty text, or "rank 1 -> rank 2: byte 17 of 100 is wrong".
  std::string verify_received() {
    for (std::size_t i = 0; i < receive.partners.size(); ++i) {
      const Rank src = receive.partners[i].rank;
      if (const auto wrong = first_wrong_byte(receive.message(i), src, written_for))
        return "rank " + std::to_string(src) + " -> rank " + std::to_string(rank) + ": byte " +
               std::to_string(*wrong) + " of " + std::to_string(receive.partners[i].bytes) + " is wrong";
    }
    return {};
  }

  /// Collective. Throws Error mismatch on all ranks if the sources that a method found differ from the
  /// matrix.
  void check_sources(std::span<const Partner> found) const {
    mpi::all_or_none(MPI_COMM_WORLD, [&] {
      if (!std::ranges::equal(found, receive.partners))
        kit::fail(ErrorCode::mismatch, "the sources found for rank {} are not those of the matrix", rank);
    });
  }

  Rank rank;
  Rank written_for;  // the destination in the received bytes: this rank, or the root
  Messages send;
  Messages receive;
};

}  // namespace nuice::bench
