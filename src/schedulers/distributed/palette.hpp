// SPDX-License-Identifier: BSD-3-Clause
// The colours that all ranks know, how large a message each may have, and when there must be more of them.
//
// The limit of colour k is the largest (k + 1)-th largest message of any rank. A schedule that keeps to these has at most W
// bytes (whole_message_bytes(), bounds.hpp), which no schedule of whole messages can beat. Where all messages have one size,
// the limits are that size, and W is D messages.
//
// All ranks see the same sums, so all add the same colours in the same round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedulers/distributed/letter.hpp"

namespace nuice::distributed {

class Palette {
 public:
  /// limits: descending, one for each of the D messages of the busiest rank. earlier: that of a plan which is to follow its
  /// matrix; its colours stay. Throws Error limit for too many.
  explicit Palette(std::vector<Bytes> limits, const Palette* earlier = nullptr);

  std::size_t size() const { return limits_.size(); }
  /// Whether any message may have any colour.
  bool is_flat() const { return limits_.empty() || limits_.front() == limits_.back(); }
  bool allows(std::size_t colour, Bytes bytes) const { return bytes <= limits_[colour]; }

  /// After a round, in which so many messages of all ranks were left without a colour: whether they lack colours, not time.
  bool needs_more(std::uint64_t unsettled);
  /// One colour more, or up to 1 in 128 where many messages are without one, for messages up to `most` bytes, which is the
  /// largest of those. Throws Error limit.
  void add(Bytes most);

 private:
  std::vector<Bytes> limits_;
  std::size_t step_;                    // at once at most
  std::vector<std::uint64_t> history_;  // since colours were last added
};

}  // namespace nuice::distributed
