// SPDX-License-Identifier: BSD-3-Clause
// Where combined messages lie in the memory that the ranks of a host share.
//
//   block to host B:    all messages from this host to ranks of B, ordered by (src, dst): one network message
//   block from host B:  the same in the other direction, in the same order, so no agreement is needed
//   inside the host:    messages between its ranks, ordered by (src, dst)
//
// Cost: O(m log m), if m messages begin or end on the host.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/support/no_index.hpp"
#include "nuice/core/hosts.hpp"
#include "nuice/core/types.hpp"

namespace nuice::exchange {

struct HostMessage {
  Rank src;
  Rank dst;
  Bytes bytes;  ///< The packed size; more than 0.
};

class HostLayout {
 public:
  /// The messages to one other host, or from it.
  struct Block {
    Rank host;
    Bytes begin;
    Bytes bytes;
    std::vector<Rank> ranks;  ///< The ranks of this host with messages in the block, ascending.
  };
  /// The place of one message of this rank.
  struct Place {
    Rank partner;
    Bytes begin;
    Bytes bytes;
    std::size_t block;  ///< Index in outgoing() or incoming(); no_index: inside the host.
  };

  /// messages: all messages that begin or end on the host of `rank`, each once, in any order.
  HostLayout(const Hosts& hosts, Rank rank, std::vector<HostMessage> messages);

  Bytes bytes() const { return bytes_; }
  std::span<const Block> outgoing() const { return outgoing_; }  ///< By ascending host.
  std::span<const Block> incoming() const { return incoming_; }
  std::span<const Place> sends() const { return sends_; }  ///< This rank's messages, by block.
  std::span<const Place> receives() const { return receives_; }

 private:
  void place(const Hosts& hosts, Rank rank, std::span<const HostMessage> messages, bool is_out);

  Bytes bytes_ = 0;
  std::vector<Block> outgoing_;
  std::vector<Block> incoming_;
  std::vector<Place> sends_;
  std::vector<Place> receives_;
};

}  // namespace nuice::exchange
