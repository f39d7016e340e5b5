// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/schedule.hpp"

#include <algorithm>

namespace nuice {

Bytes Transfer::bytes() const {
  Bytes sum = 0;
  for (const Piece& piece : pieces) sum += piece.bytes;
  return sum;
}

PhaseId Schedule::num_phases() const {
  const bool last_is_empty = !phase_begin_.empty() && phase_begin_.back() == ends_.size();
  return static_cast<PhaseId>(phase_begin_.size() - (last_is_empty ? 1 : 0));
}

Transfer Schedule::transfer(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1].piece_end;
  return {ends_[index].src, ends_[index].dst, {pieces_.data() + begin, ends_[index].piece_end - begin}};
}

void Schedule::reserve(std::size_t num_transfers, std::size_t num_pieces) {
  ends_.reserve(num_transfers);
  pieces_.reserve(num_pieces);
}

void Schedule::begin_phase() {
  const bool present_is_empty = !phase_begin_.empty() && phase_begin_.back() == ends_.size();
  if (!present_is_empty) phase_begin_.push_back(ends_.size());
}

void Schedule::add(Rank src, Rank dst, std::span<const Piece> pieces) {
  if (phase_begin_.empty()) begin_phase();
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  ends_.push_back({src, dst, pieces_.size()});
}

void Schedule::add_whole(const CommMatrix& matrix, MessageId id) {
  const Piece whole{id, 0, matrix.bytes(id)};
  add(matrix.src(id), matrix.dst(id), {&whole, 1});
}

bool operator==(const Schedule& a, const Schedule& b) {
  // Not memberwise: a begin_phase() that nothing followed leaves an entry in phase_begin_ that is no phase.
  return a.num_ranks_ == b.num_ranks_ && a.num_phases() == b.num_phases() && a.ends_ == b.ends_ &&
         a.pieces_ == b.pieces_ &&
         std::equal(a.phase_begin_.begin(), a.phase_begin_.begin() + a.num_phases(), b.phase_begin_.begin());
}

Bytes phase_bytes(const Schedule& schedule) {
  Bytes sum = 0;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    Bytes largest = 0;
    for (const Transfer& transfer : schedule.transfers(phase)) largest = std::max(largest, transfer.bytes());
    sum += largest;
  }
  return sum;
}

}  // namespace nuice
