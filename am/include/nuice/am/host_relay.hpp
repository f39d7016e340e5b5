// SPDX-License-Identifier: BSD-3-Clause
// Two hops for small items on hosts with several ranks: what a rank has for the ranks of another host travels as one message to
// one of them, which deals it out inside its host.
//
//   am::HostRelay relay(ep, hosts);                                 // before seal(), with the same hosts on all ranks
//   ep.seal();
//   am::Coalescer<Cell> cells(ep, visit, {.relay = &relay});        // push, flush, quiesce as ever
//
// n ranks on h hosts then have h - 1 messages to fill and not n - 1, so each is larger, or leaves less of its buffer empty when all
// is flushed. The rank that deals out has the sender's place in its own host, so all ranks of a host do equally much.
// An item costs its bytes, and a message 4 bytes for each rank of its host. A handler sees as its source the rank that pushed the item, and
// replies to that rank. Items between two ranks keep their order among themselves; what else these send each other may overtake them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nuice/am/endpoint.hpp"
#include "nuice/core/hosts.hpp"

namespace nuice::am {

/// One is enough for all coalescers of an endpoint. Must outlive them and the last message.
class HostRelay {
 public:
  /// Registers a handler, so before seal(), in the same order on every rank; seal() throws Error mismatch where hosts differ. Throws
  /// Error invalid_argument unless hosts are of the endpoint's ranks.
  HostRelay(Endpoint& endpoint, const Hosts& hosts);
  HostRelay(const HostRelay&) = delete;
  HostRelay& operator=(const HostRelay&) = delete;

  /// Whether an item for dst takes two hops.
  bool relays(Rank dst) const { return host_of(dst) != host_of(endpoint_.rank()); }
  /// Of dst's host, ascending.
  std::span<const Rank> ranks_beside(Rank dst) const { return ranks_[host_of(dst)]; }
  /// The rank that distributes this rank's items for dst's host.
  Rank dealer(Rank dst) const;

 private:
  friend class CoalescerBase;
  /// Before the bytes for each rank of the receiver's host, 4 bytes of number each, and the items.
  struct Batches {
    std::uint16_t handler;
  };
  std::size_t host_of(Rank rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
  /// Before items that have been dealt out.
  struct Dealt {
    Rank source;
    std::uint16_t handler;
  };
  void deal_out(const Context& context, Batches batches, Tail tail);

  Endpoint& endpoint_;
  std::vector<std::size_t> host_of_;      // by rank
  std::vector<std::vector<Rank>> ranks_;  // by host
  std::size_t own_place_ = 0;             // in its host
  std::vector<std::uint32_t> sizes_;      // of the message that is dealt out
  Handler<Batches> handler_;
  Handler<Dealt> dealt_;
};

}  // namespace nuice::am
