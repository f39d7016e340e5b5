// SPDX-License-Identifier: BSD-3-Clause
// Where the messages of a host lie in the memory that its ranks share, while they travel combined.
//
//   block to host B:    all that ranks of this host have for ranks of B, by (src, dst): one message of the network
//   block from host B:  likewise, in the same order, so that the two hosts of a block agree on it without a word
//   inside the host:    what its ranks have for each other, by (src, dst)
//
// Cost: O(m log m) for the m messages that begin or end on the host.
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
  Bytes bytes;  ///< As they travel; more than 0.
};

class HostLayout {
 public:
  /// What goes to one other host, or comes from it.
  struct Block {
    Rank host;
    Bytes begin;
    Bytes bytes;
    std::vector<Rank> ranks;  ///< Of this host, ascending: whose messages are in it.
  };
  /// A message of one rank.
  struct Place {
    Rank partner;
    Bytes begin;
    Bytes bytes;
    std::size_t block;  ///< Of outgoing() or incoming(); no_index: inside the host.
  };

  /// messages: all that begin or end on the host of `rank`, each once, in any order.
  HostLayout(const Hosts& hosts, Rank rank, std::vector<HostMessage> messages);

  Bytes bytes() const { return bytes_; }
  std::span<const Block> outgoing() const { return outgoing_; }  ///< By ascending host.
  std::span<const Block> incoming() const { return incoming_; }
  std::span<const Place> sends() const { return sends_; }  ///< This rank's, by block.
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
