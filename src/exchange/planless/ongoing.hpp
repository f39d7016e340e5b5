// SPDX-License-Identifier: BSD-3-Clause
// Where one planless exchange stands.
#pragma once

#include <vector>

#include "exchange/planless/engine.hpp"

namespace nuice::mpi {

struct PlanlessEngine::Source {
  Rank rank = no_rank;
  std::byte* at = nullptr;
  Bytes bytes = 0;
  int tag = 0;  // of data; notices have the next one
  bool is_near = false;
  Bytes unasked = 0;
  Bytes asked = 0;      // receives are posted up to here
  Bytes told = 0;       // of that, what the source has been told of or knows
  Bytes landed = 0;     // of all
  Bytes in_flight = 0;  // posted and not here
  Bytes chunk = 0;      // into which asked - told is cut; of an exchange that may be left all that is granted
  Bytes to_report = 0;  // has come of what was granted, since the last notice
  Notice notice = {};   // leaving, or the last
  Notice opening = {};  // likewise, while that may still leave
  bool is_notice_leaving = false;
  bool is_queued = false;  // stands in to_notify_

  bool is_here() const { return landed >= unasked; }
};

struct PlanlessEngine::Destination {
  /// Granted up to `end`, in chunks of so many bytes.
  struct Grant {
    Bytes end;
    Bytes chunk;
  };
  Rank rank = no_rank;
  const std::byte* at = nullptr;
  Bytes bytes = 0;
  int tag = 0;
  bool is_near = false;
  Bytes sent = 0;
  Bytes granted = 0;
  Bytes chunk = 0;                 // of an exchange that may be left
  Bytes in_flight = 0;             // sent when granted, and not reported
  Bytes missing = 0;               // what the receiver still expects from everybody
  std::vector<Grant> grants = {};  // not used up, the oldest first
  Notice notice = {};
  bool is_queued = false;  // stands in ready_
};

class PlanlessEngine::Ongoing {
 public:
  PlanlessListener* listener = nullptr;
  std::vector<Source> sources;
  std::vector<Destination> destinations;
  std::vector<std::size_t> open;   // sources that are not granted everything, in the order of granting
  std::vector<std::size_t> order;  // destinations, in the order of sending
  bool may_be_left = false;
  bool is_open = false;  // this rank waits for no grant and gives none any more
  Bytes bytes_left = 0;
  Bytes far_bytes_left = 0;
  std::size_t destinations_left = 0;  // that are not sent everything
  std::size_t requests = 0;
};

}  // namespace nuice::mpi
