// SPDX-License-Identifier: BSD-3-Clause
// A phase table turned into MPI requests, in the order of its entries.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "exchange/bind/binding.hpp"
#include "exchange/bind/packed.hpp"
#include "mpi/requests.hpp"

namespace nuice::mpi {

/// A number of receives and sends, from the first on.
struct RequestCount {
  std::size_t receives = 0;
  std::size_t sends = 0;
};

/// The requests, which an executor takes over, and what they are made of: destroyed after them.
struct TableRequests {
  std::unique_ptr<std::byte[]> stage;  // what is forwarded waits here
  std::vector<Datatype> types;
  Requests receives;
  Requests sends;
  PackedMessages packed_receives;  // gathered before a send starts, scattered when a receive has completed
  PackedMessages packed_sends;
  std::vector<Rank> receive_from;  // by receive
  std::vector<Rank> send_to;       // by send
  std::vector<RequestCount> ends;  // by entry of the table: what was made up to it
  Copies* copies = nullptr;
  std::vector<std::vector<Block>> lie_at;  // by send, if there are copies

  /// Whether a send may be gathered or started. With block it waits until it may. Requires copies.
  bool is_filled(std::size_t send, bool block) const {
    for (const Block& part : lie_at[send]) {
      if (block)
        copies->await(part);
      else if (!copies->is_filled(part))
        return false;
    }
    return true;
  }
  /// Returns when all of them may be.
  void await(std::size_t begin, std::size_t end) const {
    if (copies == nullptr) return;
    for (std::size_t i = begin; i < end; ++i) is_filled(i, true);
  }
};

/// synchronous: the sends complete only when they are being received. tail_bytes: above 0, messages of plain bytes in one
/// place and at least twice as long are two requests, of which the second has tail_bytes. Tells the arrivals what each
/// receive brings.
TableRequests make_requests(const Binding& binding, bool synchronous, Bytes tail_bytes = 0);

/// Elements of at least a byte that a rank sends to another or receives from it, in the order of the table, and the types
/// that they need for as long as they are used. For tables that forward nothing.
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

/// A rank's message to itself: its bytes are copied; where it has datatypes MPI does so.
struct SelfMessage {
  std::vector<SelfCopy> copies;
  std::vector<Datatype> types;
  Segment from = {};
  Segment to = {};

  /// tag: of messages of this rank to itself.
  void copy(const Communicator& comm, int tag) const;
};
/// Nothing where there is none, or it has no bytes.
std::optional<SelfMessage> make_self_message(const PhaseTable& table, const Layout& layout);

}  // namespace nuice::mpi
