// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/schedule.hpp"

#include <algorithm>
#include <string>

#include "nuice/core/error.hpp"

namespace nuice {

Bytes Transfer::bytes() const {
  Bytes sum = 0;
  for (const Piece& piece : pieces) sum += piece.bytes;
  return sum;
}

PhaseId Schedule::num_phases() const {
  const bool last_is_empty = !phase_begin_.empty() && phase_begin_.back() == num_transfers();
  return static_cast<PhaseId>(phase_begin_.size() - (last_is_empty ? 1 : 0));
}

Transfer Schedule::transfer(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : piece_end(index - 1);
  return {pieces_[begin].src, pieces_[begin].dst, Pieces(this, begin, piece_end(index)),
          path_.empty() ? no_path : path_[index]};
}

void Schedule::begin_phase() {
  const bool present_is_empty = !phase_begin_.empty() && phase_begin_.back() == num_transfers();
  if (!present_is_empty) phase_begin_.push_back(num_transfers());
}

void Schedule::add(Rank src, Rank dst, std::span<const Piece> pieces, std::int64_t path) {
  if (pieces.empty()) {
    throw Error(ErrorCode::invalid_argument, "a transfer from rank " + std::to_string(src) + " to rank " +
                                                 std::to_string(dst) + " without pieces");
  }
  if (phase_begin_.empty()) begin_phase();
  if (path != no_path && path_.empty()) path_.resize(num_transfers(), no_path);
  const bool keeps_paths = path != no_path || !path_.empty();
  const bool first_of_several = piece_end_.empty() && pieces.size() > 1;
  if (first_of_several) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) piece_end_.push_back(i + 1);
  }
  const bool keeps_piece_ends = first_of_several || !piece_end_.empty();
  for (const Piece& piece : pieces) {
    if (offset_.empty() && piece.offset != 0) {
      offset_.reserve(pieces_.capacity());  // the capacity that reserve() requested, if it was called
      offset_.resize(pieces_.size(), 0);
    }
    const bool keeps_offsets = !offset_.empty() || piece.offset != 0;
    pieces_.push_back({piece.bytes, piece.message, src, dst});
    if (keeps_offsets) offset_.push_back(piece.offset);
  }
  if (keeps_piece_ends) piece_end_.push_back(pieces_.size());
  if (keeps_paths) path_.push_back(path);
}

void Schedule::add_whole(const CommMatrix& matrix, MessageId id) {
  const Piece whole{id, 0, matrix.bytes(id)};
  add(matrix.src(id), matrix.dst(id), {&whole, 1});
}

Schedule Schedule::of_whole_messages(const CommMatrix& matrix, std::span<const PhaseId> phase_of,
                                     PhaseId num_phases, std::span<const std::int64_t> paths) {
  std::vector<std::size_t> next(num_phases, 0);  // counting sort by phase; ids stay ascending
  for (const PhaseId phase : phase_of) ++next[phase];
  Schedule schedule(matrix.num_ranks());
  std::size_t begin = 0;
  for (std::size_t& place : next) {
    const std::size_t count = place;
    place = begin;
    if (count > 0) schedule.phase_begin_.push_back(begin);
    begin += count;
  }
  schedule.pieces_.resize(phase_of.size());
  const bool has_paths = std::ranges::any_of(paths, [](std::int64_t path) { return path != no_path; });
  if (has_paths) schedule.path_.resize(phase_of.size());
  for (MessageId id = 0; id < phase_of.size(); ++id) {
    const std::size_t place = next[phase_of[id]]++;
    schedule.pieces_[place] = {matrix.bytes(id), id, matrix.src(id), matrix.dst(id)};
    if (has_paths) schedule.path_[place] = paths[id];
  }
  return schedule;
}

bool operator==(const Schedule& a, const Schedule& b) {
  // Members are not compared one by one: a begin_phase() without later transfers leaves an entry in
  // phase_begin_ that is not a phase.
  return a.num_ranks_ == b.num_ranks_ && a.num_phases() == b.num_phases() && a.pieces_ == b.pieces_ &&
         a.offset_ == b.offset_ && a.piece_end_ == b.piece_end_ && a.path_ == b.path_ &&
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
