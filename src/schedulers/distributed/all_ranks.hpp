// SPDX-License-Identifier: BSD-3-Clause
// A world with all ranks in one process, which counts the control messages ("letters") between them.
#pragma once

#include <span>
#include <vector>

#include "schedulers/distributed/rounds.hpp"
#include "schedulers/distributed/rows.hpp"

namespace nuice::distributed {

/// The number of control messages (letters) in a round: the sum over all ranks, and the maximum of any rank.
struct RoundCount {
  std::uint64_t letters = 0;  ///< The sum over all ranks.
  std::uint32_t most_in = 0;
  std::uint32_t most_out = 0;
  std::uint32_t most_both = 0;  ///< The maximum sum of sent and received letters of a rank.
};

class AllRanks final : public World {
 public:
  /// Colours are written into both `sends` and `receives`.
  AllRanks(Rows& sends, Rows& receives, const Palette& palette, std::uint64_t seed);

  void open() override;
  std::uint64_t deliver() override;
  SizeCounts unsettled_sizes() override { return unsettled_sizes_; }
  void turn(std::uint32_t round) override;
  void close(std::uint32_t round) override;

  const std::vector<RoundCount>& counts() const { return counts_; }
  /// The maximum number of control messages that one rank has written.
  std::uint64_t most_letters_of_a_rank() const;
  /// The maximum number of bytes that one rank needed at a time for control messages and its Turn.
  std::size_t most_letter_bytes_of_a_rank() const { return most_letter_bytes_; }

 private:
  Rows& rows_of(std::uint32_t round) { return round % 2 == 0 ? sends_ : receives_; }
  std::span<const Letter> letters_to(Rank rank) const;
  template <typename Step>
  void each_rank(Step&& step);

  Rows& sends_;
  Rows& receives_;
  Turn turn_;
  SizeCounts unsettled_sizes_;
  std::vector<Letter> out_;
  std::vector<Letter> in_;
  std::vector<std::uint32_t> begin_;    // where each rank's letters begin in in_
  std::vector<std::uint32_t> written_;  // by rank
  std::vector<RoundCount> counts_;
  std::size_t most_letter_bytes_ = 0;
};

/// Returns the example for a Turn: the distances from the busiest sender to its partners.
std::vector<Rank> example_of(const Rows& sends);
/// Returns the limits for a Palette: for every k, the largest of all ranks' k-th largest messages. O(m log
/// d).
std::vector<Bytes> limits_of(const Rows& sends, const Rows& receives);

}  // namespace nuice::distributed
