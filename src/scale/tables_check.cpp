// SPDX-License-Identifier: BSD-3-Clause
#include "scale/tables_check.hpp"

#include <algorithm>
#include <vector>

#include "nuice/core/check_pairs.hpp"
#include "nuice/core/interrupt.hpp"

namespace nuice::scale {
namespace {

/// A claim that is sent from src to dst.
struct Told {
  Rank src;
  Rank dst;
  Claim claim;
};

/// The claims sent to the ranks [begin, end), by receiver, then by sender.
class Block {
 public:
  Block(Rank begin, Rank end) : begin_(begin), end_(end) {}

  void take(const PhaseTable& table) {
    const Claims sent = claims(table, Direction::send);
    for (std::size_t i = 0; i < table.destinations.size(); ++i) {
      const Rank dst = table.destinations[i].rank;
      if (dst < begin_ || dst >= end_) continue;
      for (const Claim& claim : sent.of(i)) told_.push_back({table.rank, dst, claim});
    }
  }
  /// Sorts by receiver. For each receiver, senders stay in ascending order, in which they were added.
  void sort() { std::ranges::stable_sort(told_, {}, &Told::dst); }

  std::optional<Violation> compare(const PhaseTable& table) {
    const Claims expected = claims(table, Direction::receive);
    std::vector<Claim> sent;
    for (std::size_t i = 0; i < table.sources.size(); ++i) {
      const Rank src = table.sources[i].rank;
      if (auto stray = unexpected(table.rank, src)) return stray;
      sent.clear();
      for (; is_next(table.rank, src); ++next_) sent.push_back(told_[next_].claim);
      if (auto violation = compare_claims(src, table.rank, sent, expected.of(i))) return violation;
    }
    return unexpected(table.rank, table.num_ranks);
  }

 private:
  bool is_next(Rank dst, Rank src) const {
    return next_ < told_.size() && told_[next_].dst == dst && told_[next_].src == src;
  }
  /// Returns a violation if a rank below `src` sends a claim that the table of dst does not expect.
  std::optional<Violation> unexpected(Rank dst, Rank src) const {
    if (next_ == told_.size() || told_[next_].dst != dst || told_[next_].src >= src) return std::nullopt;
    return compare_claims(told_[next_].src, dst, std::span(&told_[next_].claim, 1), {});
  }

  Rank begin_;
  Rank end_;
  std::vector<Told> told_;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<Violation> check_all(Rank num_ranks, const std::function<PhaseTable(Rank)>& table,
                                   const std::function<void(double)>& on_progress) {
  constexpr Rank num_blocks = 8;
  constexpr Rank step = 1024;
  const auto done = [&](Rank block, Rank rank) {
    if (rank % step != 0) return;
    check_interrupt();
    on_progress((block + static_cast<double>(rank) / num_ranks) / num_blocks);
  };
  for (Rank k = 0; k < num_blocks; ++k) {
    const auto part = [&](Rank i) { return static_cast<Rank>(std::int64_t{num_ranks} * i / num_blocks); };
    Block block(part(k), part(k + 1));
    for (Rank rank = 0; rank < num_ranks; ++rank) {
      const PhaseTable mine = table(rank);
      if (k == 0)
        if (auto violation = check_alone(mine, one_port)) return violation;
      block.take(mine);
      done(k, rank);
    }
    block.sort();
    for (Rank rank = part(k); rank < part(k + 1); ++rank)
      if (auto violation = block.compare(table(rank))) return violation;
  }
  return std::nullopt;
}

}  // namespace nuice::scale
