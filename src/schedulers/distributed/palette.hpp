// SPDX-License-Identifier: BSD-3-Clause
// The colours that all ranks know, how large a message each may have, and when there must be more of them.
//
// The limit of colour k is the largest (k + 1)-th largest message of any rank. A schedule that keeps to these has at most W
// bytes (whole_message_bytes(), bounds.hpp), which no schedule of whole messages can beat. Where all messages have one size,
// the limits are that size, and W is D messages.
//
// All ranks see the same sums, so all add the same colours in the same round.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/distributed/letter.hpp"

namespace nuice::distributed {

/// How many messages there are of which size, four classes to every power of two. Ranks add theirs up.
class SizeCounts {
 public:
  void add(Bytes bytes) { ++counts_[class_of(bytes)]; }
  /// Of the largest such class that a share of all messages, 0 to 1, is above, what its messages have at most.
  Bytes size_below(double share) const;
  /// Of the largest class that has messages, all of at most that many bytes, the same. 0 if there is none.
  Bytes size_within(Bytes most) const;
  std::span<std::int64_t> counts() { return counts_; }

 private:
  static constexpr std::size_t classes_of_a_power = 4;
  static std::size_t class_of(Bytes bytes);
  static Bytes most_of(std::size_t index);

  std::array<std::int64_t, 63 * classes_of_a_power> counts_{};
};

class Palette {
 public:
  /// limits: descending, one for each of the D messages of the busiest rank. earlier: that of a plan which is to follow its
  /// matrix; its colours stay, and up to a twentieth of D more come soon, as walking costs more than a colour for the few messages
  /// that are new. Throws Error limit for too many.
  explicit Palette(std::vector<Bytes> limits, const Palette* earlier = nullptr);

  std::size_t size() const { return limits_.size(); }
  /// Whether any message may have any colour.
  bool is_flat() const { return limits_.empty() || limits_.front() == limits_.back(); }
  /// Whether the largest message of any rank is far beyond the usual, as in real programs' matrices. Measured, bytes of the
  /// phases: factors from 8 to 64 differ by 0.3 % at most (24 matrices, generated and of real programs). With a factor of
  /// 512 log-uniform sizes need 5 to 7 % more; with one of 1, uniform sizes 3 %.
  bool is_skewed() const { return !limits_.empty() && limits_.front() / 64 > limits_[limits_.size() / 2]; }
  bool allows(std::size_t colour, Bytes bytes) const { return bytes <= limits_[colour]; }

  /// Forgets the colours that no message of any rank has. used: by colour.
  void keep(std::span<const std::uint8_t> used);

  /// After a round, in which that many messages of all ranks were left without a colour: whether they lack colours, not time.
  bool needs_more(std::uint64_t unsettled);
  /// One colour more, or up to 1 in 128 where many messages are without one. unsettled: their sizes; the new limits are spread over
  /// them, from the middle on, every second time from the largest, as a large message may also send a smaller one to a new colour.
  /// Rounds pay for the bytes: until they have, a colour is for the smaller messages. Where all have one size the counts are not
  /// looked at. Throws Error limit.
  void add(const SizeCounts& unsettled);

 private:
  std::vector<Bytes> limits_;
  std::size_t soon_ = 0;                // below that many colours the next one comes soon
  std::size_t step_;                    // at once at most
  double bytes_a_round_ = 0;            // that colours may be added for
  double bytes_left_ = 0;               // of those of the rounds so far
  std::size_t num_added_ = 0;           // times
  std::vector<std::uint64_t> history_;  // since colours were last added
};

}  // namespace nuice::distributed
