// SPDX-License-Identifier: BSD-3-Clause
// Expands the wavefront on one rank's part. This client of irregular/scheme.hpp is written once for every
// scheme.
//
// Level k expands the cells at distance k. The queue keeps all levels back to back. So it is also the list of
// cells to sweep, and gives every cell's distance. Items of level k are cells at distance k + 1.
//
// If items come one level late (ASR-C-O), cells at distance k arrive after level k has been expanded without
// them, and are expanded at once. 002 s.5 fears that such a cell has meanwhile received the distance k + 1.
// This cannot happen: the grid is bipartite, so all routes from the source to a cell have lengths of the same
// parity, and a cell that is marked k + 1 is never offered k. So no label is ever corrected. corrections()
// counts corrections, and tests check that it stays 0.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "irregular/scheme.hpp"
#include "irregular/simulated.hpp"
#include "lee/part.hpp"

namespace nuice::lee {

class Wave {
 public:
  using Item = lee::Item;
  static constexpr bool ordered = true;
  static constexpr std::uint64_t not_found = UINT64_MAX;

  /// poll_cells: the number of cells after which it polls for messages.
  Wave(Rank num_ranks, std::size_t poll_cells)
      : poll_cells_(poll_cells), right_slot_(num_ranks == 2 ? 0 : 1) {}

  /// Returns the neighbours for a scheme. Slot 0 is the left neighbour. If there are two ranks, this is also
  /// the right neighbour.
  static std::vector<Rank> neighbours(Rank num_ranks, Rank rank) {
    if (num_ranks == 1) return {};
    if (num_ranks == 2) return {1 - rank};
    return {(rank + num_ranks - 1) % num_ranks, (rank + 1) % num_ranks};
  }

  /// Sets the part to work on. few_walls: which inner loop runs. late: items come one level late.
  void use(Part& part, bool few_walls, bool late) {
    late_by_ = late ? 1 : 0;
    part_ = &part;
    few_walls_ = few_walls;
    queue_.resize(std::max(queue_.size(), part.num_cells() + queue_slack));
  }

  /// Starts a net. source, target: own cells, or nothing. All cells must be swept.
  void start(std::optional<Index> source, std::optional<Index> target) {
    head_ = stop_ = tail_ = 0;
    level_ = 0;
    late_.clear();
    target_ = target;
    found_ = not_found;
    if (source) {
      part_->bytes[*source] |= mark_of(0);
      queue_[tail_++] = *source;
    }
    stop_ = tail_;
    first_of_ = {0, tail_};
    if (source && source == target) found_ = 0;
  }

  template <typename Scheme>
  void expand(Scheme& scheme) {
    remember(scheme);
    const auto emit = [&](std::size_t slot, Item item) { scheme.emit(slot, item); };
    while (head_ < stop_) {
      const std::size_t count = std::min(poll_cells_, stop_ - head_);
      expand_some(queue_.data() + head_, count, level_, emit);
      head_ += count;
      scheme.poll();
    }
  }

  void absorb(std::span<const Item> items, irregular::Level level) {
    const std::uint64_t distance = level + 1;
    const Byte ghost_mark = ghost_bit | mark_of(level);
    if (level < level_) {
      absorb_late(items, distance);
      return;
    }
    const Byte mark = mark_of(distance);
    Byte* const bytes = part_->bytes.data();
    Index* const queue = queue_.data();
    std::size_t tail = tail_;
    const Index stride = part_->stride();
    for (const Item item : items) {
      const Index c = item & ~from_the_right;
      const Byte byte = bytes[c];
      Byte& ghost = bytes[(item & from_the_right) != 0 ? c + stride : c - stride];
      ghost = is_blocked(byte) ? ghost : ghost_mark;  // a path leads over the ghost, so no rank would sweep
                                                      // it
      const bool take = can_be_reached(byte);
      queue[tail] = c;
      tail += take ? 1 : 0;
      bytes[c] = take ? static_cast<Byte>(byte | mark) : byte;
    }
    tail_ = tail;
    irregular::simulated_items(items.size());
  }

  void next_level() {
    ++level_;
    head_ = stop_;
    stop_ = tail_;
    first_of_.push_back(tail_);
    if (!target_ || found_ != not_found) return;
    const Byte mark = part_->bytes[*target_] & what_bits;
    if (mark == mark_of(level_))
      found_ = level_;
    else if (mark == mark_of(level_ - 1))  // the item came late
      found_ = level_ - 1;
  }

  /// Votes. A rank votes to stop only after the level of the target is complete.
  irregular::Vote vote() const {
    return {.idle = head_ == stop_, .stop = found_ != not_found && found_ + late_by_ <= level_};
  }

  /// Returns the distance of the target on its owner, once the target is reached.
  std::uint64_t found() const { return found_; }
  std::uint64_t corrections() const { return corrections_; }

  /// Calls visit(cell, distance) for all reached cells.
  template <typename Visit>
  void for_each_cell(Visit&& visit) const {
    for (std::size_t d = 0; d + 1 < first_of_.size(); ++d)
      for (std::size_t i = first_of_[d]; i < first_of_[d + 1]; ++i) visit(queue_[i], d);
    for (const Late& late : late_) visit(late.cell, late.distance);
  }

  void sweep(bool keep_path) {
    part_->sweep(queue_.data(), tail_, keep_path);
    for (const Late& late : late_) part_->sweep(&late.cell, 1, keep_path);
    irregular::simulated_work((tail_ + late_.size()) / 8);
  }

 private:
  struct Late {
    Index cell;
    std::uint64_t distance;
  };

  template <typename Emit>
  void expand_some(const Index* cells, std::size_t count, std::uint64_t distance, Emit& emit) {
    auto emit_after = irregular::work_first<Item>([&](std::size_t slot, Item item) { emit(slot, item); });
    const auto border = [&](Index c, Byte byte) {
      const Index west = c - part_->stride();
      const Index east = c + part_->stride();
      if ((byte & left_bit) != 0 && part_->bytes[west] == ghost_bit) emit_after(0, part_->to_left(west));
      if ((byte & right_bit) != 0 && part_->bytes[east] == ghost_bit)
        emit_after(right_slot_, part_->to_right(east));
    };
    const auto with =
        few_walls_ ? expand_cells<true, decltype(border)&> : expand_cells<false, decltype(border)&>;
    tail_ = with(part_->bytes.data(), cells, count, queue_.data(), tail_, part_->stride(),
                 mark_of(distance + 1), border);
    emit_after.release(count);
  }

  // Absorbs cells of the wavefront that was just expanded: their neighbours belong to this level.
  void absorb_late(std::span<const Item> items, std::uint64_t distance) {
    late_cells_.clear();
    irregular::simulated_items(items.size());
    for (const Item item : items) {
      const Index c = item & ~from_the_right;
      const Index ghost = (item & from_the_right) != 0 ? c + part_->stride() : c - part_->stride();
      Byte& byte = part_->bytes[c];
      if (is_blocked(byte)) continue;
      part_->bytes[ghost] = ghost_bit | mark_of(distance - 1);
      if ((byte & what_bits) == mark_of(distance + 1)) ++corrections_;  // never happens: see above
      if (!can_be_reached(byte)) continue;
      byte |= mark_of(distance);
      late_cells_.push_back(c);
      late_.push_back({c, distance});
    }
    const std::size_t count = late_cells_.size();
    late_cells_.resize(count + queue_slack);
    const auto emit = [&](std::size_t slot, Item item) { emit_(scheme_, slot, item); };
    expand_some(late_cells_.data(), count, distance, emit);
  }

  // Emits for absorb(); only used if items come late.
  template <typename Scheme>
  void remember(Scheme& scheme) {
    scheme_ = &scheme;
    emit_ = [](void* to, std::size_t slot, Item item) { static_cast<Scheme*>(to)->emit(slot, item); };
  }

  Part* part_ = nullptr;
  std::size_t poll_cells_;
  bool few_walls_ = false;
  std::size_t right_slot_;
  std::vector<Index> queue_;           // cells by distance
  std::vector<std::size_t> first_of_;  // positions in queue_ by distance; the last is the end
  std::vector<Late> late_;             // cells that came late, not in queue_
  std::vector<Index> late_cells_;      // late cells of one call of absorb()
  std::size_t head_ = 0;               // next cell to expand
  std::size_t stop_ = 0;               // end of the wavefront
  std::size_t tail_ = 0;               // end of the reached cells
  std::uint64_t level_ = 0;
  std::uint64_t late_by_ = 0;  // levels
  std::optional<Index> target_;
  std::uint64_t found_ = not_found;
  std::uint64_t corrections_ = 0;
  void* scheme_ = nullptr;
  void (*emit_)(void*, std::size_t, Item) = nullptr;
};

}  // namespace nuice::lee
