// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/exec/steps.hpp"

#include <algorithm>
#include <utility>

#include "mpi/failure.hpp"
#include "mpi/observing.hpp"

namespace nuice::mpi {
namespace {

bool has_repeats(std::vector<Rank> partners) {
  std::ranges::sort(partners);
  return std::ranges::adjacent_find(partners) != partners.end();
}

}  // namespace

std::vector<RequestCount> one_step(const std::vector<RequestCount>& of_entries) {
  return {of_entries.empty() ? RequestCount{} : of_entries.back()};
}

std::vector<RequestCount> ends_of_phases(const PhaseTable& table,
                                         const std::vector<RequestCount>& of_entries) {
  std::vector<RequestCount> steps;
  std::size_t entry = 0;
  RequestCount end;
  for (PhaseId phase = 0; phase < table.num_phases; ++phase) {
    for (; entry < of_entries.size() && table.entries[entry].phase == phase; ++entry) end = of_entries[entry];
    const RequestCount last = steps.empty() ? RequestCount{} : steps.back();
    const bool is_busy = end.receives > last.receives || end.sends > last.sends;
    if (is_busy) steps.push_back(end);
  }
  return steps;
}

Steps::Steps(TableRequests requests, std::vector<RequestCount> ends, Arrivals& arrivals,
             bool may_start_at_once)
    : made_(std::move(requests)),
      ends_(std::move(ends)),
      arrivals_(arrivals),
      receives_repeat_(has_repeats(made_.receive_from)),
      sends_repeat_(has_repeats(made_.send_to)) {
  lay_by_step();
  const bool is_one_step = ends_.size() == 1 && requests_.size() > 0;
  const bool is_packed = !made_.packed_sends.empty() || !made_.packed_receives.empty();
  const bool is_ordered = receives_repeat_ || sends_repeat_;
  is_plain_ = may_start_at_once && is_one_step && !is_packed && !is_ordered && made_.copies == nullptr;
  indices_.resize(requests_.size());
}

void Steps::lay_by_step() {
  const auto take = [this](Requests& from, std::vector<std::uint32_t>& places, std::size_t end) {
    for (std::size_t i = places.size(); i < end; ++i) {
      owners_.push_back({&from == &made_.sends, static_cast<std::uint32_t>(i)});
      places.push_back(static_cast<std::uint32_t>(requests_.size()));
      requests_.take(from, i);
    }
  };
  for (const RequestCount& end : ends_) {
    take(made_.receives, receive_at_, end.receives);
    take(made_.sends, send_at_, end.sends);
  }
}

void Steps::start() {
  step_ = due_ = started_ = 0;
  blocks_ = follows_ = nothing_came_ = false;
  expect(made_.packed_receives);
  if (is_plain_) {
    requests_.start_unordered(0, requests_.size());
    note_sends(0, send_at_.size());
    return;
  }
  start_receives();
  if (ends_.size() > 1) observe_begin(Region::phase, 0);
  if (!ends_.empty()) begin_step();
}

void Steps::note_sends(std::size_t begin, std::size_t end) {
  if (!arrivals_.trace().is_on()) return;
  for (std::size_t i = begin; i < end; ++i) arrivals_.trace().note(Trace::Kind::sent, made_.send_to[i]);
}

/// Starts requests. If several pieces go to one rank, the requests must start in order, which MPI_Startall
/// does not promise.
void Steps::start_all(const std::vector<std::uint32_t>& places, std::size_t begin, std::size_t end,
                      bool in_order) {
  while (begin < end) {
    const std::size_t first = begin++;
    while (begin < end && places[begin] == places[begin - 1] + 1) ++begin;
    in_order ? requests_.start(places[first], places[begin - 1] + 1)
             : requests_.start_unordered(places[first], places[begin - 1] + 1);
  }
}

void Steps::start_receives() { start_receives(0, receive_at_.size()); }

void Steps::start_receives(std::size_t begin, std::size_t end) {
  start_all(receive_at_, begin, end, receives_repeat_);
}

void Steps::begin_step() { start_sends(step_begin().sends, step_end().sends); }

void Steps::start_sends(std::size_t begin, std::size_t end) {
  if (made_.copies != nullptr) {
    due_ = end;
    start_filled();
    return;
  }
  gather(made_.packed_sends, begin, end);
  start_all(send_at_, begin, end, sends_repeat_);
  note_sends(begin, end);
}

/// Starts all sends that are due and filled. Returns whether all sends that are due have started.
bool Steps::start_filled() {
  for (; started_ < due_ && made_.is_filled(started_, blocks_); ++started_) {
    gather(made_.packed_sends, started_, started_ + 1);
    start_all(send_at_, started_, started_ + 1, sends_repeat_);
    note_sends(started_, started_ + 1);
  }
  return started_ == due_;
}

bool Steps::advance(bool block) {
  return is_plain_ && !follows_ ? Steps::is_step_done(block) : go_through_steps(block);
}

bool Steps::go_through_steps(bool block) {
  nothing_came_ = false;
  while (step_ < ends_.size()) {
    if (!is_all_done(block)) return false;
    const RequestCount begin = step_begin();
    scatter(made_.packed_receives, begin.receives, step_end().receives);
    if (follows_) arrivals_.land_receives(begin.receives, step_end().receives);
    begin_next_step();
  }
  return true;
}

/// Whether all requests of the step are complete. The loop is needed because a completed send may make
/// another send due.
bool Steps::is_all_done(bool block) {
  blocks_ = block;
  do
    if (!start_filled() || !is_step_done(block)) return false;
  while (started_ < due_);
  return true;
}

/// Begins the next step, if there is one.
void Steps::begin_next_step() {
  if (ends_.size() > 1) observe_end(Region::phase, static_cast<std::int64_t>(step_));
  ++step_;
  ++num_events_;
  if (ends_.size() > 1 && step_ < ends_.size())
    observe_begin(Region::phase, static_cast<std::int64_t>(step_));
  arrivals_.trace().note(Trace::Kind::step, no_rank, static_cast<Bytes>(step_));
  if (step_ < ends_.size()) begin_step();
}

/// Whether the step is complete. The result stays true until the next step begins, because MPI treats
/// completed requests as done.
bool Steps::is_step_done(bool block) {
  const std::size_t begin = step_place(step_begin());
  const std::size_t end = step_place(step_end());
  if (!block) return requests_.test(begin, end);
  requests_.wait(begin, end);
  return true;
}

void Steps::follow() {
  follows_ = true;
  arrivals_.land_receives(0, step_begin().receives);
}

/// Takes requests that have completed. MPI ignores requests that are not active.
std::size_t Steps::take_what_is_complete(bool block) {
  const std::size_t first = step_place(step_begin());
  const auto found = requests_.take_completed(block, first, requests_.size(), indices_);
  nothing_came_ = found.empty();
  for (const int at : found) {
    const auto [is_send, index] = owners_[first + static_cast<std::size_t>(at)];
    if (is_send) {
      take_sent(index);
    } else {
      scatter(made_.packed_receives, index, index + 1);
      arrivals_.land_receive(index);
    }
  }
  num_events_ += std::ssize(found);
  return found.size();
}

/// Makes only one call of MPI per iteration that finds nothing, because each such call may give the core to
/// another process.
bool Steps::next(bool block) {
  start_filled();
  while (nothing_came_ || !go_through_steps(false)) {
    const bool may_wait = block && !arrivals_.any();
    blocks_ = may_wait;
    start_filled();
    if (take_what_is_complete(may_wait) == 0 && !may_wait) return false;
  }
  return true;
}

std::string Steps::waits_for() const {
  std::vector<Rank> ranks;
  for (std::size_t i = step_begin().receives; i < step_end().receives; ++i)
    if (!arrivals_.has_landed(i)) ranks.push_back(made_.receive_from[i]);
  for (std::size_t i = step_begin().sends; i < step_end().sends; ++i)
    if (!requests_.is_complete(send_at_[i])) ranks.push_back(made_.send_to[i]);
  return names_of(ranks);
}

void Steps::cancel() noexcept { requests_.cancel_receives(); }

}  // namespace nuice::mpi
