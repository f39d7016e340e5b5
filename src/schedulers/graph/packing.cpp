// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/graph/packing.hpp"

#include <algorithm>

namespace nuice::sched {

Packing::Packing(const CommMatrix& matrix, const Routes& routes) : phase_of_(matrix.num_messages(), nowhere) {
  const auto num_ranks = static_cast<std::size_t>(matrix.num_ranks());
  const auto first_link = static_cast<Need>(2 * num_ranks);
  begin_.reserve(std::size_t{matrix.num_messages()} + 1);
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    begin_.push_back(needs_.size());
    needs_.push_back(static_cast<Need>(matrix.src(id)));
    needs_.push_back(static_cast<Need>(matrix.num_ranks() + matrix.dst(id)));
    for (const std::int32_t link : routes.of(id)) needs_.push_back(first_link + static_cast<Need>(link));
  }
  begin_.push_back(needs_.size());

  load_.assign(2 * num_ranks + routes.num_links(), 0);
  for (const Need need : needs_) ++load_[need];
  for (std::size_t port = 0; port <= 2 * num_ranks; ++port) first_slot_.push_back(port);
  for (std::size_t link = 0; link < routes.num_links(); ++link) {
    first_slot_.push_back(first_slot_.back() +
                          static_cast<std::size_t>(routes.slots(static_cast<std::int32_t>(link))));
  }
}

void Packing::clear() {
  num_phases_ = 0;
  size_of_phase_.clear();
  std::ranges::fill(phase_of_, nowhere);
  std::ranges::fill(full_, 0);
  std::ranges::fill(occupant_, no_message);
}

void Packing::add_phase() {
  if (num_phases_ == num_words_ * 64) widen(std::max<std::size_t>(1, 2 * num_words_));
  ++num_phases_;
  size_of_phase_.push_back(0);
}

void Packing::widen(std::size_t num_words) {
  std::vector<std::uint64_t> full(load_.size() * num_words, 0);
  for (std::size_t need = 0; need < load_.size(); ++need) {
    std::copy_n(full_.data() + need * num_words_, num_words_, full.data() + need * num_words);
  }
  std::vector<MessageId> occupants(first_slot_.back() * num_words * 64, no_message);
  for (std::size_t slot = 0; slot < first_slot_.back(); ++slot) {
    std::copy_n(occupant_.data() + slot * num_words_ * 64, num_words_ * 64,
                occupants.data() + slot * num_words * 64);
  }
  full_ = std::move(full);
  occupant_ = std::move(occupants);
  num_words_ = num_words;
  free_.resize(num_words);
}

std::vector<MessageId> Packing::dissolve_smallest_phase() {
  const auto smallest =
      static_cast<PhaseId>(std::ranges::min_element(size_of_phase_) - size_of_phase_.begin());
  const PhaseId last = num_phases_ - 1;
  std::vector<MessageId> dissolved;
  std::vector<MessageId> moved;
  for (MessageId id = 0; id < phase_of_.size(); ++id) {
    if (phase_of_[id] == smallest) {
      dissolved.push_back(id);
    } else if (phase_of_[id] == last) {
      moved.push_back(id);
    }
  }
  for (const MessageId id : dissolved) take_out(id);
  for (const MessageId id : moved) {
    take_out(id);
    put(id, smallest);
  }
  size_of_phase_.pop_back();
  --num_phases_;
  return dissolved;
}

std::span<const std::uint64_t> Packing::free_phases(MessageId id) {
  const std::size_t used_words = (std::size_t{num_phases_} + 63) / 64;
  for (std::size_t word = 0; word < used_words; ++word) {
    std::uint64_t full = 0;
    for (const Need need : needs(id)) full |= full_[need * num_words_ + word];
    free_[word] = ~full;
  }
  if (num_phases_ % 64 != 0) free_[used_words - 1] &= (std::uint64_t{1} << num_phases_ % 64) - 1;
  return {free_.data(), used_words};
}

void Packing::put(MessageId id, PhaseId phase) {
  phase_of_[id] = phase;
  ++size_of_phase_[phase];
  for (const Need need : needs(id)) {
    std::size_t slot = first_slot_[need];
    while (occupant(slot, phase) != no_message) ++slot;
    occupant(slot, phase) = id;
    while (slot < first_slot_[need + 1] && occupant(slot, phase) != no_message) ++slot;
    if (slot == first_slot_[need + 1])
      full_[need * num_words_ + phase / 64] |= std::uint64_t{1} << phase % 64;
  }
}

void Packing::take_out(MessageId id) {
  const PhaseId phase = phase_of_[id];
  phase_of_[id] = nowhere;
  --size_of_phase_[phase];
  for (const Need need : needs(id)) {
    std::size_t slot = first_slot_[need];
    while (occupant(slot, phase) != id) ++slot;
    occupant(slot, phase) = no_message;
    full_[need * num_words_ + phase / 64] &= ~(std::uint64_t{1} << phase % 64);
  }
}

}  // namespace nuice::sched
