// SPDX-License-Identifier: BSD-3-Clause
#include "lee/wave.hpp"

namespace nuice::lee {

void Wave::use(Part& part, bool few_walls, bool late) {
  late_by_ = late ? 1 : 0;
  part_ = &part;
  few_walls_ = few_walls;
  queue_.resize(std::max(queue_.size(), part.num_cells() + queue_slack));
}

void Wave::start(std::optional<Index> source, std::optional<Index> target) {
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

void Wave::absorb(std::span<const Item> items, irregular::Level level) {
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
    ghost = is_blocked(byte) ? ghost : ghost_mark;  // a path leads there, so nobody will sweep the ghost
    const bool take = can_be_reached(byte);
    queue[tail] = c;
    tail += take ? 1 : 0;
    bytes[c] = take ? static_cast<Byte>(byte | mark) : byte;
  }
  tail_ = tail;
  irregular::simulated_items(items.size());
}

// Cells of the wavefront that was just expanded: what they lead to belongs to this level.
void Wave::absorb_late(std::span<const Item> items, std::uint64_t distance) {
  late_cells_.clear();
  irregular::simulated_items(items.size());
  for (const Item item : items) {
    const Index c = item & ~from_the_right;
    const Index ghost = (item & from_the_right) != 0 ? c + part_->stride() : c - part_->stride();
    Byte& byte = part_->bytes[c];
    if (is_blocked(byte)) continue;
    part_->bytes[ghost] = ghost_bit | mark_of(distance - 1);
    if ((byte & what_bits) == mark_of(distance + 1)) ++corrections_;  // never: see above
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

void Wave::next_level() {
  ++level_;
  head_ = stop_;
  stop_ = tail_;
  first_of_.push_back(tail_);
  if (!target_ || found_ != not_found) return;
  const Byte mark = part_->bytes[*target_] & what_bits;
  if (mark == mark_of(level_))
    found_ = level_;
  else if (mark == mark_of(level_ - 1))  // came late
    found_ = level_ - 1;
}

void Wave::sweep(bool keep_path) {
  part_->sweep(queue_.data(), tail_, keep_path);
  for (const Late& late : late_) part_->sweep(&late.cell, 1, keep_path);
  irregular::simulated_work((tail_ + late_.size()) / 8);
}

}  // namespace nuice::lee
