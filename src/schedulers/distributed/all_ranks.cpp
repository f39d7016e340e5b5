// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/distributed/all_ranks.hpp"

#include <algorithm>
#include <numeric>

#include "nuice/core/interrupt.hpp"

namespace nuice::distributed {

AllRanks::AllRanks(Rows& sends, Rows& receives, const Palette& palette, std::uint64_t seed)
    : sends_(sends),
      receives_(receives),
      turn_(palette, seed, sends.num_ranks(), example_of(sends)),
      begin_(static_cast<std::size_t>(sends.num_ranks()) + 1, 0),
      written_(static_cast<std::size_t>(sends.num_ranks()), 0) {}

std::vector<Rank> example_of(const Rows& sends) {
  if (sends.num_ranks() == 0) return {};
  Rank busiest = 0;
  for (Rank rank = 1; rank < sends.num_ranks(); ++rank)
    if (sends.degree(rank) > sends.degree(busiest)) busiest = rank;
  const std::size_t begin = sends.begin[static_cast<std::size_t>(busiest)];
  return distances_of(busiest, std::span(sends.partners).subspan(begin, sends.degree(busiest)),
                      sends.num_ranks());
}

std::span<const Letter> AllRanks::letters_to(Rank rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return std::span(in_).subspan(begin_[at], begin_[at + 1] - begin_[at]);
}

/// Carries out the step of every rank, and counts the control messages that each rank reads and writes.
template <typename Step>
void AllRanks::each_rank(Step&& step) {
  RoundCount count;
  for (Rank rank = 0; rank < sends_.num_ranks(); ++rank) {
    if (rank % 1024 == 0) check_interrupt();
    const std::size_t before = out_.size();
    const std::size_t num_in = letters_to(rank).size();
    step(rank);
    const std::size_t num_out = out_.size() - before;
    written_[static_cast<std::size_t>(rank)] += static_cast<std::uint32_t>(num_out);
    count.letters += num_out;
    count.most_in = std::max(count.most_in, static_cast<std::uint32_t>(num_in));
    count.most_out = std::max(count.most_out, static_cast<std::uint32_t>(num_out));
    count.most_both = std::max(count.most_both, static_cast<std::uint32_t>(num_in + num_out));
  }
  counts_.push_back(count);
  most_letter_bytes_ = std::max(most_letter_bytes_, count.most_both * sizeof(Letter) + turn_.memory_bytes());
}

void AllRanks::open() {
  each_rank([&](Rank rank) { turn_.open(sends_.side(rank), out_); });
}

std::uint64_t AllRanks::deliver() {
  std::ranges::fill(begin_, 0);
  for (const Letter& letter : out_) ++begin_[static_cast<std::size_t>(letter.dst) + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  in_.resize(out_.size());
  std::uint64_t unsettled = 0;
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (const Letter& letter : out_) {  // by ascending sender; the order is kept
    in_[next[static_cast<std::size_t>(letter.dst)]++] = letter;
    unsettled += letter.is_settled ? 0 : 1;
  }
  out_.clear();
  unsettled_sizes_ = turn_.unsettled_sizes();
  return unsettled;
}

void AllRanks::turn(std::uint32_t round) {
  each_rank([&](Rank rank) {
    if (const auto letters = letters_to(rank); !letters.empty())
      turn_.take(rows_of(round).side(rank), letters, round, out_);
  });
}

void AllRanks::close(std::uint32_t round) {
  for (Rank rank = 0; rank < sends_.num_ranks(); ++rank)
    Turn::close(rows_of(round).side(rank), letters_to(rank));
}

std::uint64_t AllRanks::most_letters_of_a_rank() const { return std::ranges::max(written_); }

std::vector<Bytes> limits_of(const Rows& sends, const Rows& receives) {
  std::vector<Bytes> limits;
  std::vector<Bytes> row;
  for (const Rows* rows : {&sends, &receives})
    for (std::size_t rank = 0; rank + 1 < rows->begin.size(); ++rank) {
      row.assign(rows->bytes.begin() + static_cast<std::ptrdiff_t>(rows->begin[rank]),
                 rows->bytes.begin() + static_cast<std::ptrdiff_t>(rows->begin[rank + 1]));
      std::ranges::sort(row, std::ranges::greater{});
      if (row.size() > limits.size()) limits.resize(row.size(), 0);
      for (std::size_t k = 0; k < row.size(); ++k) limits[k] = std::max(limits[k], row[k]);
    }
  return limits;
}

}  // namespace nuice::distributed
