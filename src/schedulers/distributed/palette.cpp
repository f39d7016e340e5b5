// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/distributed/palette.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>

#include "nuice/core/error.hpp"

namespace nuice::distributed {
namespace {

void require_room(std::size_t num_colours) {
  if (num_colours > most_colours)
    throw Error(ErrorCode::limit, "distributed planning is for " + std::to_string(most_colours) +
                                      " phases and partners at most: " + std::to_string(num_colours));
}

}  // namespace

Palette::Palette(std::vector<Bytes> limits, const Palette* earlier, const Cut& cut)
    : cut_(cut), limits_(std::move(limits)), step_(std::max<std::size_t>(1, limits_.size() / 128)) {
  // Decides when a colour is added for the largest messages. Such a colour may cost as many bytes as hundreds
  // of other colours. Therefore only 1 % of W may be added per 20 rounds that have passed. Two colours of
  // average size may be added at once.
  constexpr double rounds_for_w = 2048;
  constexpr double free_colours = 2;
  const double whole = std::accumulate(limits_.begin(), limits_.end(), 0.0);
  bytes_a_round_ = whole / rounds_for_w;
  if (!limits_.empty()) bytes_left_ = free_colours * whole / static_cast<double>(limits_.size());
  bytes_for_colours_ = bytes_left_;
  if (earlier != nullptr) {
    constexpr std::size_t part_of_colours = 20;
    soon_ = limits_.size() + std::max<std::size_t>(1, limits_.size() / part_of_colours);
    limits_.resize(std::max(limits_.size(), earlier->size()), 0);
    for (std::size_t k = 0; k < earlier->size(); ++k) limits_[k] = std::max(limits_[k], earlier->limits_[k]);
  }
  require_room(limits_.size());
  if (limits_.empty()) return;
  is_flat_ = limits_.front() == limits_.back();
  is_skewed_ = limits_.front() / 64 > limits_[limits_.size() / 2];
}

void Palette::keep(std::span<const std::uint8_t> used) {
  std::size_t kept = 0;
  for (std::size_t colour = 0; colour < limits_.size(); ++colour)
    if (used[colour] != 0) limits_[kept++] = limits_[colour];
  limits_.resize(kept);
}

bool Palette::needs_more(std::uint64_t unsettled) {
  // The number of rounds after which progress is judged. If every rank has a colour to spare, this number of
  // rounds settles more than a third of the uncoloured messages (D = 64). Without a spare colour, two
  // uncoloured messages must meet to be settled, which happens ever more rarely.
  constexpr std::size_t patience = 16;
  constexpr std::size_t short_patience = 3;
  constexpr std::uint64_t few = 512;
  if (num_at_first_ == 0) num_at_first_ = unsettled;
  has_few_left_ = unsettled * few <= num_at_first_;
  bytes_left_ += bytes_a_round_;
  history_.push_back(unsettled);
  const auto before = [this](std::size_t rounds) { return history_[history_.size() - 1 - rounds]; };
  const bool comes_soon = limits_.size() < soon_ && history_.size() > short_patience;
  if (comes_soon && unsettled * 2 > before(short_patience)) return true;
  return history_.size() > patience && unsettled * 8 > before(patience) * 7;
}

void Palette::add(const SizeCounts& unsettled) {
  constexpr std::size_t messages_for_a_colour = 16;
  const auto some = static_cast<std::size_t>(history_.back() / messages_for_a_colour);
  const std::size_t count = std::clamp<std::size_t>(some, 1, step_);
  require_room(limits_.size() + count);
  if (is_flat()) {
    limits_.insert(limits_.end(), count, limits_.front());
  } else {
    constexpr double part_for_smaller = 1.0 / 16;  // the rest is saved for large messages
    const double from = num_added_ % 2 == 0 ? 0.5 : 0;
    for (std::size_t i = 0; i < count; ++i) {
      Bytes limit = unsettled.size_below((static_cast<double>(i) + from) / static_cast<double>(count));
      is_saving_ = limits_.size() >= soon_ && static_cast<double>(limit) > bytes_left_;
      if (is_saving_) {
        if (is_skewed_ && raise_a_limit(limit)) continue;
        limit = unsettled.size_within(static_cast<Bytes>(bytes_left_ * part_for_smaller));
      }
      if (limit == 0) continue;
      limits_.push_back(limit);
      bytes_left_ -= static_cast<double>(limit);
    }
  }
  ++num_added_;
  history_.clear();
}

bool Palette::raise_a_limit(Bytes limit) {
  const double most = bytes_left_ - bytes_for_colours_;
  Bytes* lowest = nullptr;
  for (Bytes& other : limits_) {
    const bool can_pay = other < limit && static_cast<double>(limit - other) <= most;
    if (can_pay && (lowest == nullptr || other < *lowest)) lowest = &other;
  }
  if (lowest == nullptr) return false;
  bytes_left_ -= static_cast<double>(limit - *lowest);
  *lowest = limit;
  return true;
}

std::size_t SizeCounts::class_of(Bytes bytes) {
  const auto value = static_cast<std::uint64_t>(std::max<Bytes>(bytes, 1));
  const auto power = static_cast<std::size_t>(std::bit_width(value)) - 1;
  const std::uint64_t after_first = power < 2 ? value << (2 - power) : value >> (power - 2);
  return power * classes_of_a_power + after_first % classes_of_a_power;
}

Bytes SizeCounts::size_below(double share) const {
  const std::int64_t all = std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
  const auto wanted = static_cast<std::int64_t>(share * static_cast<double>(all));
  std::int64_t above = 0;
  for (std::size_t i = counts_.size(); i-- > 0;) {
    above += counts_[i];
    if (above > wanted) return most_of(i);
  }
  return 0;
}

Bytes SizeCounts::size_within(Bytes most) const {
  for (std::size_t i = counts_.size(); i-- > 0;)
    if (counts_[i] > 0 && most_of(i) <= most) return most_of(i);
  return 0;
}

/// Returns the upper size limit of a class.
Bytes SizeCounts::most_of(std::size_t index) {
  const std::size_t power = index / classes_of_a_power;
  // The smallest size after the class, in quarters of its power of two.
  const std::uint64_t next = classes_of_a_power + index % classes_of_a_power + 1;
  const std::uint64_t end = power < 2 ? (next + (4U >> power) - 1) >> (2 - power) : next << (power - 2);
  return static_cast<Bytes>(end - 1);
}

}  // namespace nuice::distributed
