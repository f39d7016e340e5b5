// SPDX-License-Identifier: BSD-3-Clause
// Two hops for small items on hosts with several ranks. A rank's items for all ranks of another host are sent
// as one message to one of these ranks, which distributes them inside its host.
//
//   am::HostRelay relay(ep, hosts);                                 // before seal(), with the same hosts on all ranks
//   ep.seal();
//   am::Coalescer<Cell> cells(ep, visit, {.relay = &relay});        // push, flush, quiesce as usual
//
// With n ranks on h hosts, a rank then fills h - 1 messages instead of n - 1. So messages are larger, and a
// flush sends fewer buffers that are nearly empty. The rank that distributes a message has the sender's
// position within the host, so all ranks of a host do the same amount of work. An item costs its bytes, and a
// message costs 4 bytes for each rank of its host. A handler sees the rank that pushed the item as its
// source, and replies go to that rank. Items between two ranks keep their order; other messages between the
// same ranks may overtake items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nuice/am/endpoint.hpp"
#include "nuice/core/hosts.hpp"

namespace nuice::am {

/// A relay for all coalescers of an endpoint. It must outlive the coalescers and the last message.
class HostRelay {
 public:
  /// Registers a handler, so construct it before seal(), in the same order on every rank. If hosts differ
  /// between ranks, seal() throws Error `mismatch`. Throws Error `invalid_argument` if hosts and endpoint
  /// have different numbers of ranks.
  HostRelay(Endpoint& endpoint, const Hosts& hosts);
  HostRelay(const HostRelay&) = delete;
  HostRelay& operator=(const HostRelay&) = delete;

  /// Whether an item for dst takes two hops.
  bool relays(Rank dst) const { return host_of(dst) != host_of(endpoint_.rank()); }
  /// The ranks of dst's host, ascending.
  std::span<const Rank> ranks_beside(Rank dst) const { return ranks_[host_of(dst)]; }
  /// Returns the rank that distributes this rank's items to the ranks of dst's host.
  Rank dealer(Rank dst) const;

 private:
  friend class CoalescerBase;
  /// The header of a message to a host. After it come the bytes for each of the host's ranks, as 4-byte
  /// numbers, and then the items.
  struct Batches {
    std::uint16_t handler;
  };
  std::size_t host_of(Rank rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
  /// The header of items that the distributing rank forwards.
  struct Dealt {
    Rank source;
    std::uint16_t handler;
  };
  void deal_out(const Context& context, Batches batches, Tail tail);

  Endpoint& endpoint_;
  std::vector<std::size_t> host_of_;      // by rank
  std::vector<std::vector<Rank>> ranks_;  // by host
  std::size_t own_place_ = 0;             // this rank's place in its host
  std::vector<std::uint32_t> sizes_;      // sizes of the parts of the message that is being distributed
  Handler<Batches> handler_;
  Handler<Dealt> dealt_;
};

}  // namespace nuice::am
