// SPDX-License-Identifier: BSD-3-Clause
// Sends small items in two hops between hosts with several ranks. A rank sends its items for all ranks of
// another host as one message to one rank of this host, which distributes the items inside the host.
//
//   am::HostRelay relay(ep, hosts);                             // before seal(); the same hosts on all ranks
//   ep.seal();
//   am::Coalescer<Cell> cells(ep, visit, {.relay = &relay});    // push, flush, quiesce as usual
//
// With n ranks on h hosts, a rank then fills h - 1 messages instead of n - 1. So messages are larger, and a
// flush sends fewer buffers that are nearly empty. The distributing rank has the same position within its
// host as the sender has, so all ranks of a host do the same amount of work. An item takes as many bytes as
// its type, and a message takes 4 more bytes for each rank of the receiving host. Handlers see the rank that
// pushed the item as the source, and replies go to that rank. Items between two ranks keep their order; other
// messages between them may overtake items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nuice/am/endpoint.hpp"
#include "nuice/core/hosts.hpp"

namespace nuice::am {

/// A relay for all coalescers of an endpoint. It must live longer than the coalescers and until the last
/// message has been handled.
class HostRelay {
 public:
  /// Registers a handler. Construct the relay before seal(), in the same order on every rank. seal() throws
  /// Error with code `mismatch` if hosts differ between ranks. The constructor throws Error with code
  /// `invalid_argument` if hosts and endpoint have different numbers of ranks.
  HostRelay(Endpoint& endpoint, const Hosts& hosts);
  HostRelay(const HostRelay&) = delete;
  HostRelay& operator=(const HostRelay&) = delete;

  /// Returns whether an item for dst takes two hops.
  bool relays(Rank dst) const { return host_of(dst) != host_of(endpoint_.rank()); }
  /// Returns the ranks on dst's host, in ascending order.
  std::span<const Rank> ranks_beside(Rank dst) const { return ranks_[host_of(dst)]; }
  /// Returns the rank that distributes this rank's items for dst's host.
  Rank dealer(Rank dst) const;

 private:
  friend class CoalescerBase;
  /// The header of a message to a host. The bytes for each of the host's ranks follow, as 4-byte numbers, and
  /// then the items.
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
