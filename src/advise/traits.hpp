// SPDX-License-Identifier: BSD-3-Clause
// What the rule and the planning costs know of a matrix: degrees, sizes, lengths of routes. O(ranks + messages).
#pragma once

#include "nuice/bounds.hpp"
#include "nuice/comm_matrix.hpp"
#include "nuice/topology.hpp"

namespace nuice::advice {

struct Traits {
  double ranks = 0;
  double messages = 0;
  double bytes = 0;
  double out_degree = 0;  ///< The largest one.
  double in_degree = 0;
  double degree = 0;  ///< The larger of the two.
  double out_bytes = 0;
  double in_bytes = 0;
  double both_bytes = 0;  ///< The largest sum of a rank's bytes out and in.
  double port_bytes = 0;  ///< The larger of out_bytes and in_bytes.
  double largest = 0;     ///< Message.
  double smallest = 0;
  double hops = 0;      ///< Mean length of routes, from at most a thousand of them.
  double symmetry = 0;  ///< Share of messages whose partner sends one back, from as many.

  double mean_bytes() const { return messages > 0 ? bytes / messages : 0; }
  bool equal_sizes() const { return largest == smallest; }
};

/// `topology` may be null: then hops is 0.
Traits traits_of(const CommMatrix& matrix, const Topology* topology);

}  // namespace nuice::advice
