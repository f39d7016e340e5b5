// SPDX-License-Identifier: BSD-3-Clause
// Hosts first: the messages between hosts as edges of a graph of hosts, in which two hosts may have several. A colouring of it
// is a schedule in which no host sends or receives two messages in a phase, in about as many phases as the busiest host has messages.
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/core/hosts.hpp"
#include "schedulers/distributed/rows.hpp"

namespace nuice::distributed {

struct HostEdges {
  Rows sends;                          ///< By sending host; partners are hosts.
  std::vector<std::uint64_t> message;  ///< Of each edge the index of its message.
};

/// One message, with the hosts of its ends.
struct Between {
  Rank src_host;
  Rank dst_host;
  Bytes bytes;
};

/// message(i), i < num_messages, in the order of (src, dst) rank: a Between. Those of two hosts keep this order. O(messages + hosts).
template <typename Message>
HostEdges host_edges(Rank num_hosts, std::uint64_t num_messages, Message&& message) {
  const auto at = [](Rank host) { return static_cast<std::size_t>(host); };
  std::vector<std::uint64_t> next(at(num_hosts) + 1, 0);  // of each receiving host
  for (std::uint64_t i = 0; i < num_messages; ++i) {
    const Between m = message(i);
    if (m.src_host != m.dst_host) ++next[at(m.dst_host) + 1];
  }
  for (std::size_t host = 1; host < next.size(); ++host) next[host] += next[host - 1];
  std::vector<std::uint64_t> by_receiver(next.back());
  HostEdges edges;
  edges.sends.begin.assign(at(num_hosts) + 1, 0);
  for (std::uint64_t i = 0; i < num_messages; ++i) {
    const Between m = message(i);
    if (m.src_host == m.dst_host) continue;
    by_receiver[next[at(m.dst_host)]++] = i;
    ++edges.sends.begin[at(m.src_host) + 1];
  }
  for (std::size_t host = 1; host < edges.sends.begin.size(); ++host)
    edges.sends.begin[host] += edges.sends.begin[host - 1];
  next.assign(edges.sends.begin.begin(), edges.sends.begin.end());
  edges.message.resize(by_receiver.size());
  for (const std::uint64_t i : by_receiver) edges.message[next[at(message(i).src_host)]++] = i;
  for (const std::uint64_t i : edges.message) {
    edges.sends.partners.push_back(message(i).dst_host);
    edges.sends.bytes.push_back(message(i).bytes);
  }
  edges.sends.colours.assign(edges.message.size(), no_colour);
  return edges;
}

}  // namespace nuice::distributed
