// SPDX-License-Identifier: BSD-3-Clause
// Turns a phase table into MPI requests, in the order of its entries.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exchange/bind/binding.hpp"
#include "mpi/requests.hpp"

namespace nuice::mpi {

/// A number of receives and a number of sends, both counted from the first.
struct RequestCount {
  std::size_t receives = 0;
  std::size_t sends = 0;
};

/// Larger messages of several parts are left to MPI, because another copy would cost as much as it saves. The
/// limit is higher for a forwarded message, which has many small parts, for which MPI takes twice as long
/// (docs/adr/0011). A message of fields has a few large parts (bench/run.py fields).
constexpr Bytes packed_message_bytes = 16384;
constexpr Bytes packed_field_bytes = 2048;

/// A short message of several parts, which this rank gathers and scatters itself. MPI could use a derived
/// datatype, but handles even short ones on its slow path.
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

/// Requests, which an executor takes over, and the memory and types that they use. Memory and types are
/// destroyed after the requests.
struct TableRequests {
  std::unique_ptr<std::byte[]> stage;  // forwarded bytes
  std::vector<Datatype> types;
  Requests receives;
  Requests sends;
  PackedMessages packed_receives;  // gathered before a send starts, scattered when a receive has completed
  PackedMessages packed_sends;
  std::vector<Rank> receive_from;  // by receive
  std::vector<Rank> send_to;       // by send
  std::vector<RequestCount> ends;  // for each entry of the table: the number of requests up to its end
  Copies* copies = nullptr;
  std::vector<std::vector<Block>> lie_at;  // by send: its memory, if there are copies

  /// Whether the memory of a send is filled. With block, waits until the memory is filled. Requires copies.
  bool is_filled(std::size_t send, bool block) const {
    for (const Block& part : lie_at[send]) {
      if (block)
        copies->await(part);
      else if (!copies->is_filled(part))
        return false;
    }
    return true;
  }
  /// Returns when the memory of these sends is filled.
  void await(std::size_t begin, std::size_t end) const {
    if (copies == nullptr) return;
    for (std::size_t i = begin; i < end; ++i) is_filled(i, true);
  }
};

/// Makes the requests, and tells the arrivals what each receive brings. synchronous: sends complete only when
/// their receive has begun. tail_bytes: if it is above 0, a contiguous message of plain bytes, at least twice
/// as long, becomes two requests, of which the second has tail_bytes.
TableRequests make_requests(const Binding& binding, bool synchronous, Bytes tail_bytes = 0);

/// The elements with bytes that a rank sends to others or receives from them, in the order of the table, and
/// the types that these elements use. For tables without forwarding.
struct TableElements {
  struct Elements {
    Rank partner;
    Segment segment;
  };
  std::vector<Datatype> types;
  std::vector<Elements> sends;
  std::vector<Elements> receives;
};
TableElements list_elements(const PhaseTable& table, const Layout& layout);

/// Plain bytes of a rank's message to itself.
struct SelfCopy {
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t bytes = 0;
};

/// A rank's message to itself. Plain bytes are copied; MPI copies other datatypes.
struct SelfMessage {
  std::vector<SelfCopy> copies;
  std::vector<Datatype> types;
  Segment from = {};
  Segment to = {};

  /// Copies the message. tag: a tag for this rank's message to itself.
  void copy(const Communicator& comm, int tag) const;
};
/// Returns nothing if the rank sends itself no message, or a message without bytes.
std::optional<SelfMessage> make_self_message(const PhaseTable& table, const Layout& layout);

}  // namespace nuice::mpi
