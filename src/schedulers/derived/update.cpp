// SPDX-License-Identifier: BSD-3-Clause
// Changes of a DynamicSchedule. A batch is looked at as a whole first, so that a refused one changes nothing. Then
// removals, which make room, then new sizes, then new messages, each placed below the maximum degree that the matrix
// has after the batch; then phases above it give up a few messages.
#include "nuice/plan/dynamic_schedule.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "nuice/core/error.hpp"
#include "schedulers/derived/update_state.hpp"
#include "schedulers/rows.hpp"

namespace nuice::update {

std::string pair_text(Rank src, Rank dst) {
  return "rank " + std::to_string(src) + " -> rank " + std::to_string(dst);
}

namespace {

constexpr PhaseId no_phase = std::numeric_limits<PhaseId>::max();

/// Moving one message costs about as much as planning this many again: a path leads to ranks all over the memory.
constexpr MessageId messages_per_move = 8;
/// That coloring takes.
constexpr MessageId most_messages_to_plan_anew = MessageId{1} << 29;

void require_whole_messages(const CommMatrix& matrix, const Schedule& schedule) {
  if (const auto violation = check(matrix, schedule, direct | one_port)) {
    if (const auto worse = check(matrix, schedule, 0)) throw Error(ErrorCode::mismatch, worse->text);
    throw Error(ErrorCode::not_applicable,
                "only schedules that are direct and one_port can be updated: " + violation->text);
  }
  if (schedule.num_transfers() != matrix.num_messages()) {
    throw Error(ErrorCode::not_applicable, "only schedules of whole messages can be updated");
  }
}

void require_valid(const Message& change, Rank num_ranks) {
  const auto outside = [num_ranks](Rank rank) { return rank < 0 || rank >= num_ranks; };
  if (outside(change.src) || outside(change.dst)) {
    throw Error(ErrorCode::invalid_argument,
                pair_text(change.src, change.dst) + ": ranks go from 0 to " + std::to_string(num_ranks - 1));
  }
  if (change.bytes < 0) {
    throw Error(ErrorCode::invalid_argument,
                pair_text(change.src, change.dst) + ": negative size " + std::to_string(change.bytes));
  }
  if (change.bytes > max_bytes) {
    throw Error(ErrorCode::limit, pair_text(change.src, change.dst) + ": " + std::to_string(change.bytes) +
                                      " bytes, more than the largest size 2^62");
  }
}

void require_no_pair_twice(std::vector<Message> changes) {
  const auto ends = [](const Message& m) { return std::pair(m.src, m.dst); };
  std::ranges::sort(changes, {}, ends);
  const auto twice = std::ranges::adjacent_find(changes, {}, ends);
  if (twice != changes.end())
    throw Error(ErrorCode::invalid_argument,
                pair_text(twice->src, twice->dst) + ": given twice; give its new size once");
}

}  // namespace

State::State(Rank num_ranks)
    : records(index(num_ranks)),
      grid(num_ranks),
      num_sends(records.size(), 0),
      num_receives(records.size(), 0),
      self_bytes(records.size(), 0) {
  ranks_of_degree[0] = 2 * records.size();
}

std::vector<State::Record>::iterator State::place_of(Rank src, Rank dst) {
  return std::ranges::lower_bound(records[index(src)], dst, {}, &Record::dst);
}

State::Record* State::find(Rank src, Rank dst) {
  const auto found = place_of(src, dst);
  return found == records[index(src)].end() || found->dst != dst ? nullptr : &*found;
}

const State::Record* State::find(Rank src, Rank dst) const {
  const auto& row = records[index(src)];
  const auto found = std::ranges::lower_bound(row, dst, {}, &Record::dst);
  return found == row.end() || found->dst != dst ? nullptr : &*found;
}

void State::forget_last_changes() {
  asked.clear();
  moves.clear();
  left.clear();
  is_planned_anew = false;
  num_moved = 0;
}

/// `by` is 1 or -1.
void State::count_message(Rank src, Rank dst, int by) {
  for (MessageId* degree : {&num_sends[index(src)], &num_receives[index(dst)]}) {
    --ranks_of_degree[*degree];
    *degree += static_cast<MessageId>(by);
    if (*degree >= ranks_of_degree.size()) ranks_of_degree.resize(*degree + std::size_t{1}, 0);
    ++ranks_of_degree[*degree];
  }
  while (ranks_of_degree.size() > 1 && ranks_of_degree.back() == 0) ranks_of_degree.pop_back();
  num_messages += static_cast<MessageId>(by);
}

void State::add_record(const Message& message) {
  records[index(message.src)].insert(place_of(message.src, message.dst),
                                     {message.dst, no_phase, message.bytes});
  count_message(message.src, message.dst, 1);
}

/// False if there is none.
bool State::remove(Rank src, Rank dst) {
  const auto found = place_of(src, dst);
  if (found == records[index(src)].end() || found->dst != dst) return false;
  take_out(src, dst, found->phase);
  records[index(src)].erase(found);
  count_message(src, dst, -1);
  return true;
}

void State::place(Rank src, Rank dst, PhaseId phase) {
  grid.place(src, dst, phase);
  find(src, dst)->phase = phase;
}

void State::take_out(Rank src, Rank dst, PhaseId phase) {
  grid.remove(src, dst, phase);
  left.push_back({src, dst, phase});
}

/// Into a phase below the maximum degree, of which there is one as the message itself counts.
void State::put_in(Rank src, Rank dst) {
  const std::size_t first_move = moves.size();
  const PhaseId phase = grid.make_room(src, dst, max_degree(), moves);
  for (std::size_t i = first_move; i < moves.size(); ++i)
    find(moves[i].src, moves[i].dst)->phase = moves[i].to;
  place(src, dst, phase);
}

std::size_t State::empty_high_phases(std::size_t most_moves) {
  std::size_t moved = 0;
  for (; moved < most_moves && grid.end_phase() > max_degree() && !is_worth_planning_anew(); ++moved) {
    const PhaseId last = grid.end_phase() - 1;
    const Rank src = grid.sender_in_last_phase();
    const Rank dst = grid.receiver_of(src, last);
    take_out(src, dst, last);
    put_in(src, dst);
    moves.push_back({src, dst, last, find(src, dst)->phase});
  }
  return moved;
}

bool State::is_worth_planning_anew() const {
  return moves.size() > 64 + num_messages / messages_per_move && num_messages < most_messages_to_plan_anew;
}

/// The number of messages that changed phase.
std::size_t State::finish(bool is_done) {
  if (!is_done) plan_anew();
  return is_planned_anew ? num_moved : moves.size();
}

/// All messages, those that have no phase yet included.
void State::plan_anew() {
  const CommMatrix now = matrix();
  const Schedule schedule = sched::make_coloring({now, 0});
  grid = sched::PhaseGrid(num_ranks());
  for (Rank rank = 0; rank < num_ranks(); ++rank)
    grid.reserve(rank, num_sends[index(rank)], num_receives[index(rank)]);
  num_moved = 0;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      const PhaseId before = find(transfer.src, transfer.dst)->phase;
      if (before != no_phase && before != phase) ++num_moved;
      place(transfer.src, transfer.dst, phase);
    }
  }
  moves.clear();
  left.clear();
  is_planned_anew = true;
}

namespace {

/// The sum of all sizes after the changes. No sum on the way is outside 0 .. max_bytes.
Bytes total_after(Bytes total, std::span<const Message> changes, const auto& bytes_now) {
  for (const Message& change : changes) total -= bytes_now(change);
  for (const Message& change : changes) {
    if (change.bytes > max_bytes - total) {
      throw Error(ErrorCode::limit, pair_text(change.src, change.dst) + ": with " +
                                        std::to_string(change.bytes) +
                                        " bytes the messages have more than 2^62 bytes in all");
    }
    total += change.bytes;
  }
  return total;
}

}  // namespace

/// Throws if the changes cannot be made; otherwise the sum of all sizes after them.
Bytes State::require_applicable(std::span<const Message> changes) const {
  for (const Message& change : changes) require_valid(change, num_ranks());
  require_no_pair_twice({changes.begin(), changes.end()});
  if (changes.size() > std::numeric_limits<MessageId>::max() - 1 - num_messages) {
    throw Error(ErrorCode::limit, "with the changes there may be more than 2^32 - 2 messages");
  }
  return total_after(total_bytes, changes, [this](const Message& change) {
    if (change.src == change.dst) return self_bytes[index(change.src)];
    const Record* known = find(change.src, change.dst);
    return known == nullptr ? 0 : known->bytes;
  });
}

}  // namespace nuice::update

namespace nuice {

using update::index;
using update::State;

DynamicSchedule::DynamicSchedule(const CommMatrix& matrix, const Schedule& schedule) {
  update::require_whole_messages(matrix, schedule);
  state_ = std::make_unique<State>(matrix.num_ranks());
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    state_->records[index(rank)].reserve(matrix.sent_by(rank).size());
    state_->grid.reserve(rank, matrix.sent_by(rank).size(), matrix.received_by(rank).size());
    state_->self_bytes[index(rank)] = matrix.self_bytes(rank);
    state_->total_bytes += matrix.self_bytes(rank);
  }
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    state_->add_record(matrix.message(id));
    state_->total_bytes += matrix.bytes(id);
  }
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase))
      state_->place(transfer.src, transfer.dst, phase);
  }
}

DynamicSchedule::DynamicSchedule(DynamicSchedule&&) noexcept = default;
DynamicSchedule& DynamicSchedule::operator=(DynamicSchedule&&) noexcept = default;
DynamicSchedule::~DynamicSchedule() = default;

Update DynamicSchedule::apply(std::span<const Message> changes) {
  State& state = *state_;
  state.total_bytes = state.require_applicable(changes);
  state.forget_last_changes();
  state.asked.assign(changes.begin(), changes.end());
  Update update;
  for (const auto& [src, dst, bytes] : changes) {
    if (src == dst) {
      state.self_bytes[index(src)] = bytes;
    } else if (bytes == 0 && state.remove(src, dst)) {
      ++update.removed;
    }
  }
  std::vector<Message> added;
  for (const Message& change : changes) {
    if (change.src == change.dst || change.bytes == 0) continue;
    if (auto* known = state.find(change.src, change.dst); known == nullptr) {
      state.add_record(change);
      added.push_back(change);
    } else if (known->bytes != change.bytes) {
      known->bytes = change.bytes;
      ++update.resized;
    }
  }
  update.added = added.size();
  std::size_t placed = 0;
  for (; placed < added.size() && !state.is_worth_planning_anew(); ++placed)
    state.put_in(added[placed].src, added[placed].dst);
  state.empty_high_phases(moves_per_change * (update.added + update.removed));
  update.moved = state.finish(placed == added.size());
  update.planned_anew = state.is_planned_anew;
  return update;
}

Update DynamicSchedule::set(Rank src, Rank dst, Bytes bytes) {
  const Message change{src, dst, bytes};
  return apply({&change, 1});
}

std::size_t DynamicSchedule::compact() {
  state_->forget_last_changes();
  state_->empty_high_phases(std::numeric_limits<std::size_t>::max());
  return state_->finish(phases_above_max_degree() == 0);
}

Rank DynamicSchedule::num_ranks() const { return state_->num_ranks(); }
MessageId DynamicSchedule::num_messages() const { return state_->num_messages; }
MessageId DynamicSchedule::max_degree() const { return state_->max_degree(); }
PhaseId DynamicSchedule::num_phases() const { return state_->grid.num_used_phases(); }
PhaseId DynamicSchedule::phases_above_max_degree() const {
  return num_phases() > max_degree() ? num_phases() - max_degree() : 0;
}

}  // namespace nuice
