// SPDX-License-Identifier: BSD-3-Clause
// The colours that all ranks know, the size limit of each colour, and the rule for adding colours.
//
// Colours (phases) have size limits. The limit of colour k is the largest of all ranks' (k + 1)-th largest
// messages. A schedule that keeps to these limits has at most W bytes (whole_message_bytes(), bounds.hpp),
// and no schedule of whole messages has fewer. If all messages have the same size, all limits are that size,
// and W is D messages.
//
// All ranks see the same sums, so all ranks add the same colours in the same round.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/distributed/cut.hpp"
#include "schedulers/distributed/letter.hpp"

namespace nuice::distributed {

/// The number of messages per size class, with four classes per power of two. Ranks sum their counts.
class SizeCounts {
 public:
  void add(Bytes bytes) { ++counts_[class_of(bytes)]; }
  /// Returns the upper size limit of the largest class such that more than `share` (0 to 1) of all messages
  /// are in it or in larger classes.
  Bytes size_below(double share) const;
  /// Returns the upper size limit of the largest class that has messages and whose limit is at most `most`.
  /// Returns 0 if there is no such class.
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
  /// limits: descending, one for each of the D messages of the busiest rank. earlier: the palette of an
  /// earlier plan, if this plan follows it with a new matrix. The earlier colours stay. Up to a twentieth of
  /// D more colours are added soon, because there are few new messages, and a colour costs less than many
  /// rounds. Throws Error `limit` if there are too many colours.
  /// cut: the rule by which messages were cut before the limits were found; that of the earlier plan, if
  /// there is one.
  explicit Palette(std::vector<Bytes> limits, const Palette* earlier = nullptr, const Cut& cut = {});

  const Cut& cut() const { return cut_; }
  std::size_t size() const { return limits_.size(); }
  /// Whether any message may have any colour.
  bool is_flat() const { return is_flat_; }
  /// Whether the largest message of any rank is far larger than the median limit, as in the matrices of real
  /// programs. The factor 64 was chosen by measuring 24 generated and real matrices: between factors 8 and 64
  /// the bytes of the phases differ by at most 0.3 %. With a factor of 512 log-uniform sizes need 5 to 7 %
  /// more bytes; with a factor of 1 uniform sizes need 3 % more.
  bool is_skewed() const { return is_skewed_; }
  bool allows(std::size_t colour, Bytes bytes) const { return bytes <= limits_[colour]; }

  /// Removes the colours that no rank uses. used: for each colour, whether any message has it.
  void keep(std::span<const std::uint8_t> used);

  /// Call it after a round that left `unsettled` messages (of all ranks) without a colour. Returns whether
  /// the cause is a lack of colours.
  bool needs_more(std::uint64_t unsettled);
  /// Returns whether at most 1 in 512 of the messages that were without a colour in the first round still
  /// are.
  bool has_few_left() const { return has_few_left_; }
  /// Returns whether add() could not add a colour for the largest messages, because this colour would cost
  /// more bytes than new colours may cost so far.
  bool is_saving() const { return is_saving_; }
  /// Adds one colour or, if many messages have none, up to 1/128 of the initial number of colours. unsettled:
  /// the sizes of the messages without a colour. The limits of the new colours are spread over these sizes.
  /// They start at the median size and, every second time, at the largest size, because a large message may
  /// also push a smaller one to a new colour. Each round adds to the bytes that new colours may cost. Until
  /// these suffice, the limit of a colour is raised instead; if that costs too much too, new colours are for
  /// smaller messages. If the palette is flat, `unsettled` is not used.
  /// Throws Error `limit` if there are too many colours.
  void add(const SizeCounts& unsettled);

 private:
  /// Raises one limit to `limit`: the lowest limit that the bytes left allow. Returns whether there is such a
  /// limit. If few sizes make up most of W, raising the next lower size costs much less than adding a colour
  /// of `limit`.
  bool raise_a_limit(Bytes limit);

  Cut cut_;
  std::vector<Bytes> limits_;
  // Decided when the palette is made: a raised limit must not make it look flat.
  bool is_flat_ = true;
  bool is_skewed_ = false;
  bool is_saving_ = false;
  bool has_few_left_ = false;
  std::uint64_t num_at_first_ = 0;      // the messages without a colour in the first round
  std::size_t soon_ = 0;                // if there are fewer colours than this, new ones are added soon
  std::size_t step_;                    // the maximum number of colours added at once
  double bytes_a_round_ = 0;            // the bytes that a round allows new colours to add
  double bytes_left_ = 0;               // the bytes that new colours may still add
  double bytes_for_colours_ = 0;        // of these, the bytes that are not for raising limits
  std::size_t num_added_ = 0;           // the number of calls of add()
  std::vector<std::uint64_t> history_;  // for each round since colours were last added: the uncoloured
                                        // messages
};

}  // namespace nuice::distributed
