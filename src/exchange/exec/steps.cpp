// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/exec/steps.hpp"

#include <algorithm>
#include <utility>

#include "mpi/call.hpp"
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
    : requests_(std::move(requests)),
      ends_(std::move(ends)),
      arrivals_(arrivals),
      receives_repeat_(has_repeats(requests_.receive_from)),
      sends_repeat_(has_repeats(requests_.send_to)) {
  lay_side_by_side();
  const bool is_one_step = ends_.size() == 1 && !both_.empty();
  const bool is_packed = !requests_.packed_sends.empty() || !requests_.packed_receives.empty();
  const bool is_ordered = receives_repeat_ || sends_repeat_;
  is_plain_ = may_start_at_once && is_one_step && !is_packed && !is_ordered && requests_.copies == nullptr;
  watched_.reserve(both_.size());
  watched_what_.reserve(both_.size());
  indices_.resize(both_.size());
}

void Steps::lay_side_by_side() {
  both_.resize(requests_.receives.size() + requests_.sends.size());
  RequestCount begin;
  for (const RequestCount& end : ends_) {
    MPI_Request* const of_step = both_.data() + begin.receives + begin.sends;
    requests_.receives.copy_to(begin.receives, end.receives, of_step);
    requests_.sends.copy_to(begin.sends, end.sends, of_step + (end.receives - begin.receives));
    begin = end;
  }
}

void Steps::start() {
  step_ = 0;
  follows_ = nothing_came_ = false;
  expect(requests_.packed_receives);
  if (is_plain_) {
    start_at_once();
    return;
  }
  start_receives();
  if (ends_.size() > 1) observe_begin(Region::phase, 0);
  if (!ends_.empty()) begin_step();
}

void Steps::start_at_once() {
  const std::size_t num_receives = requests_.receives.size();
  const std::size_t persistent = requests_.sends.are_persistent() ? both_.size() : num_receives;
  if (persistent > 0) must(MPI_Startall(static_cast<int>(persistent), both_.data()), "MPI_Startall");
  if (persistent < both_.size()) requests_.sends.start_in(both_.data() + num_receives);
  note_sends(0, requests_.send_to.size());
}

void Steps::note_sends(std::size_t begin, std::size_t end) {
  if (!arrivals_.trace().is_on()) return;
  for (std::size_t i = begin; i < end; ++i) arrivals_.trace().note(Trace::Kind::sent, requests_.send_to[i]);
}

/// MPI_Startall may start in any order, which would mix up several pieces from one source.
void Steps::start_receives() {
  Requests& receives = requests_.receives;
  receives_repeat_ ? receives.start(0, receives.size()) : receives.start_unordered(0, receives.size());
}

void Steps::begin_step() { start_sends(step_begin().sends, step_end().sends); }

void Steps::start_sends(std::size_t begin, std::size_t end) {
  if (requests_.copies != nullptr) {
    for (std::size_t i = begin; i < end; ++i) {
      requests_.await(i, i + 1);
      gather(requests_.packed_sends, i, i + 1);
      requests_.sends.start(i, i + 1);
    }
    note_sends(begin, end);
    return;
  }
  gather(requests_.packed_sends, begin, end);
  sends_repeat_ ? requests_.sends.start(begin, end) : requests_.sends.start_unordered(begin, end);
  note_sends(begin, end);
}

bool Steps::advance(bool block) {
  return is_plain_ && !follows_ ? are_all_done(block) : go_through_steps(block);
}

bool Steps::are_all_done(bool block) {
  const int count = static_cast<int>(both_.size());
  int done = 1;
  if (block && count == 1) {  // of an exchange of 8 bytes one way, MPI_Waitall takes 5 ns more
    must(MPI_Wait(both_.data(), MPI_STATUS_IGNORE), "MPI_Wait");
  } else if (block) {
    must(MPI_Waitall(count, both_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  } else {
    must(MPI_Testall(count, both_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  }
  return done != 0;
}

bool Steps::go_through_steps(bool block) {
  nothing_came_ = false;
  while (step_ < ends_.size()) {
    if (!is_step_done(block)) return false;
    const RequestCount begin = step_begin();
    scatter(requests_.packed_receives, begin.receives, step_end().receives);
    if (follows_) arrivals_.land_receives(begin.receives, step_end().receives);
    begin_next_step();
  }
  return true;
}

/// The last step is followed by none.
void Steps::begin_next_step() {
  if (ends_.size() > 1) observe_end(Region::phase, static_cast<std::int64_t>(step_));
  ++step_;
  ++num_events_;
  if (ends_.size() > 1 && step_ < ends_.size())
    observe_begin(Region::phase, static_cast<std::int64_t>(step_));
  arrivals_.trace().note(Trace::Kind::step, no_rank, static_cast<Bytes>(step_));
  if (step_ < ends_.size()) begin_step();
}

/// Once true it stays so until the next step: complete requests are inactive or null, which counts as done.
bool Steps::is_step_done(bool block) { return are_done(block); }

/// Those that are not under way count as done.
bool Steps::are_done(bool block) {
  const RequestCount begin = step_begin();
  const RequestCount end = step_end();
  const std::size_t num_receives = end.receives - begin.receives;
  const int count = static_cast<int>(num_receives + end.sends - begin.sends);
  if (count == 0) return true;
  MPI_Request* const of_step = both_.data() + begin.receives + begin.sends;
  const bool has_shorts = !requests_.sends.are_persistent();
  if (has_shorts) requests_.sends.copy_to(begin.sends, end.sends, of_step + num_receives);
  int done = 1;
  const int code = block ? MPI_Waitall(count, of_step, MPI_STATUSES_IGNORE)
                         : MPI_Testall(count, of_step, &done, MPI_STATUSES_IGNORE);
  if (has_shorts) requests_.sends.give_back(begin.sends, end.sends, of_step + num_receives);
  must(code, block ? "MPI_Waitall" : "MPI_Testall");
  return done != 0;
}

void Steps::follow() {
  follows_ = true;
  if (is_plain_)
    requests_.sends.give_back(0, requests_.sends.size(), both_.data() + requests_.receives.size());
  arrivals_.land_receives(0, step_begin().receives);
}

void Steps::watch(MPI_Request request, bool is_send, std::size_t index) {
  watched_.push_back(request);
  watched_what_.push_back({is_send, index});
}

void Steps::watch_sends() {
  for (std::size_t i = step_begin().sends; i < step_end().sends; ++i) watch(requests_.sends[i], true, i);
}

int Steps::take_what_is_complete(bool block) {
  watched_.clear();
  watched_what_.clear();
  for (std::size_t i = step_begin().receives; i < requests_.receives.size(); ++i)
    if (!arrivals_.has_landed(i)) watch(requests_.receives[i], false, i);
  watch_sends();
  int found = 0;
  const auto ready = block ? MPI_Waitsome : MPI_Testsome;
  must(
      ready(static_cast<int>(watched_.size()), watched_.data(), &found, indices_.data(), MPI_STATUSES_IGNORE),
      block ? "MPI_Waitsome" : "MPI_Testsome");
  nothing_came_ = found == 0;
  if (found == MPI_UNDEFINED) return 0;  // the sends of this step are through, and no receive is left
  for (int i = 0; i < found; ++i) {
    const auto at = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
    const auto [is_send, index] = watched_what_[at];
    if (is_send) {
      take_sent(index, watched_[at]);
    } else {
      scatter(requests_.packed_receives, index, index + 1);
      arrivals_.land_receive(index);
    }
  }
  num_events_ += found;
  return found;
}

/// One call of MPI in every turn that finds nothing, as each may give the core away.
bool Steps::next(bool block) {
  while (nothing_came_ || !go_through_steps(false)) {
    const bool may_wait = block && !arrivals_.any();
    if (take_what_is_complete(may_wait) == 0 && !may_wait) return false;
  }
  return true;
}

std::string Steps::waits_for() const {
  std::vector<Rank> ranks;
  for (std::size_t i = step_begin().receives; i < step_end().receives; ++i)
    if (!arrivals_.has_landed(i)) ranks.push_back(requests_.receive_from[i]);
  for (std::size_t i = step_begin().sends; i < step_end().sends; ++i) {
    int complete = 0;
    const MPI_Request send = requests_.sends[i];
    if (send != MPI_REQUEST_NULL)
      must(MPI_Request_get_status(send, &complete, MPI_STATUS_IGNORE), "MPI_Request_get_status");
    if (complete == 0) ranks.push_back(requests_.send_to[i]);
  }
  return names_of(ranks);
}

void Steps::cancel() noexcept { requests_.receives.cancel(0, requests_.receives.size()); }

}  // namespace nuice::mpi
