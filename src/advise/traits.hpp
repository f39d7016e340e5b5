// SPDX-License-Identifier: BSD-3-Clause
// What the rule and the counted work know about a matrix: degrees, sizes, route lengths. O(ranks + messages).
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/core/bounds.hpp"
#include "nuice/core/comm_matrix.hpp"
#include "nuice/plan/machine.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::advice {

/// The messages that a rank sends, or receives.
struct Load {
  double messages = 0;
  double bytes = 0;
  double wire = 0;       ///< Bytes on the wire, packets included.
  double late = 0;       ///< Messages above the eager limit, which wait for the receiver.
  double late_wire = 0;  ///< The bytes on the wire of the late messages.

  void add(double more_messages, Bytes each, const Machine& machine) {
    const double more_wire = more_messages * static_cast<double>(wire_bytes(machine, each));
    messages += more_messages;
    bytes += more_messages * static_cast<double>(each);
    wire += more_wire;
    if (each <= machine.eager_limit) return;
    late += more_messages;
    late_wire += more_wire;
  }
};

/// The load of one rank.
struct Port {
  Load out;
  Load in;
};

/// A message, of a sample that is spread evenly over all messages.
struct Sample {
  std::int64_t distance;  ///< (dst - src) mod ranks.
  double bytes;
};

/// The properties of a matrix on a machine. hops is the average of at most a thousand messages.
struct Traits : MatrixTraits {
  std::vector<Sample> samples;  ///< Of messages of all sizes, at most 128.
  std::vector<Port> ports;      ///< By rank. The rank with the most messages need not have the most bytes.
  double bytes = 0;             ///< Of messages.
  double typical = 0;           ///< Mean size of the message to which a byte belongs.
  double out_degree = 0;        ///< The maximum over ranks.
  double in_degree = 0;
  double largest = 0;  ///< Size of the largest message.
  double port = 0;     ///< The maximum number of bytes that a rank sends or receives.
  // Bytes on the wire, packet headers included:
  double wire = 0;          ///< Of all messages.
  double wire_port = 0;     ///< The maximum that a rank sends or receives.
  double wire_largest = 0;  ///< Of the largest message.

  double mean_bytes() const { return messages > 0 ? bytes / messages : 0; }
};

/// A range of message sizes, including both ends.
struct Sizes {
  Bytes least = 0;
  Bytes most = max_bytes;
  bool contains(Bytes bytes) const { return least <= bytes && bytes <= most; }
};

/// Returns the traits of messages of these sizes. Without a topology hops is 0.
Traits traits_of(const CommMatrix& matrix, const Topology* topology, const Machine& machine,
                 const Sizes& sizes = {});

}  // namespace nuice::advice
