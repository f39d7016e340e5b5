// SPDX-License-Identifier: BSD-3-Clause
// The same executors, followed request by request: to hand over every message as it lands, so that work on one overlaps
// with the others (003 s.6), and to notice that nothing has moved for too long.
//
//   follow:   wait for any receive that has not landed or send of this step; note what landed; begin steps as before
//
// A receive of a later step may land early, since all are posted: it is handed over at once. What the steps' own tests
// complete unseen is noted when the step ends, so start(), test(), next() and wait() may be mixed.
//
// Cost: O(requests not complete) per completion on top of exchange.cpp, which waits for a step as a whole.
#include <algorithm>
#include <thread>

#include "exchange/exec/exchange_state.hpp"
#include "mpi/call.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

void Exchange::State::reserve() {
  both_.resize(receives.size() + sends.size());
  StepEnd begin;
  for (const StepEnd& end : step_ends) {
    MPI_Request* const of_step = both_.data() + begin.receive + begin.send;
    receives.copy_to(begin.receive, end.receive, of_step);
    sends.copy_to(begin.send, end.send, of_step + (end.receive - begin.receive));
    begin = end;
  }
  const bool ordered = receives_repeat || sends_repeat;
  const bool is_one_step = step_ends.size() == 1 && !both_.empty();
  is_plain = is_one_step && window.empty() && packed_sends.empty() && packed_receives.empty() && !ordered;
  const std::size_t most = receives.size() + (window.empty() ? sends.size() : window.size());
  watched_.reserve(most);
  watched_what_.reserve(most);
  indices_.resize(most);
}

/// From here on arrivals are noted; what has landed before is made up for.
void Exchange::State::follow() {
  if (follows) return;
  follows = true;
  if (is_plain) sends.give_back(0, sends.size(), both_.data() + receives.size());
  start_arrivals();
  arrivals.land_receives(0, step_begin().receive);
}

void Exchange::State::start_arrivals() {
  arrivals.start();
  if (self.bytes > 0 || self_message) arrivals.land_copied(comm->rank());
}

int Exchange::State::take_what_is_complete(bool block) {
  watched_.clear();
  watched_what_.clear();
  const auto watch = [this](MPI_Request request, Watched what) {
    watched_.push_back(request);
    watched_what_.push_back(what);
  };
  for (std::size_t i = step_begin().receive; i < receives.size(); ++i)
    if (!arrivals.has_landed(i)) watch(receives[i], {Watched::Kind::receive, i});
  if (window.empty())
    for (std::size_t i = step_begin().send; i < step_ends[step].send; ++i)
      watch(sends[i], {Watched::Kind::send, i});
  for (std::size_t i = 0; i < window.size(); ++i) watch(window[i], {Watched::Kind::place, i});

  int found = 0;
  const auto ready = block ? MPI_Waitsome : MPI_Testsome;
  must(
      ready(static_cast<int>(watched_.size()), watched_.data(), &found, indices_.data(), MPI_STATUSES_IGNORE),
      block ? "MPI_Waitsome" : "MPI_Testsome");
  if (found == MPI_UNDEFINED) return 0;  // the sends of this step are through, and no receive is left
  for (int i = 0; i < found; ++i) {
    const auto at = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
    const auto [kind, index] = watched_what_[at];
    if (kind == Watched::Kind::receive) {
      scatter(index, index + 1);
      arrivals.land_receive(index);
    }
    if (kind == Watched::Kind::send) sends[index] = watched_[at];
    if (kind == Watched::Kind::place) refill_window(index);
  }
  num_events += found;
  return found;
}

/// True when the exchange is complete. block: returns when it is or a message can be handed over.
bool Exchange::State::advance_following(bool block) {
  if (credit) return credit->advance(block, arrivals, block);
  follow();
  while (!advance_steps(false)) {
    const bool may_wait = block && !arrivals.any();
    const bool is_in_barrier = barrier && barrier->is_under_way();
    if (is_in_barrier && may_wait) {
      barrier->is_over(true);
      begin_next_step();
      continue;
    }
    if (is_in_barrier) return false;
    if (take_what_is_complete(may_wait) == 0 && !may_wait) return false;
  }
  return true;
}

std::optional<Arrival> Exchange::State::next(bool block) {
  if (!credit) follow();
  broken = true;  // until all MPI calls below have returned
  std::optional<Arrival> arrival = arrivals.take();
  bool is_first_look = true;
  for (bool again = !arrival; again;) {
    const bool done = watches() ? advance_watching(false, is_first_look) : advance_following(block);
    is_first_look = false;
    arrival = arrivals.take();
    running = !done || arrival;
    again = block && !done && !arrival;
    if (again && watches()) std::this_thread::yield();
  }
  broken = false;
  return arrival;
}

/// A gap between two looks counts for little, as this rank may have been stopped; one between two calls for hardly
/// anything, as it has computed.
bool Exchange::State::advance_watching(bool block, bool is_first_look) {
  const double most_while_waiting_s = watchdog_s / 10;
  const double most_between_calls_s = watchdog_s / 1000;
  while (true) {
    const std::int64_t before = events();
    if (advance_following(false)) return true;
    if (watches_deaths && events() == before) check_deaths();
    if (watchdog_s > 0) check_watchdog(before, is_first_look ? most_between_calls_s : most_while_waiting_s);
    if (!block) return false;
    is_first_look = false;
    std::this_thread::yield();
  }
}

/// One that has nothing to do with the dead may wait for one that has, and gave up.
void Exchange::State::check_deaths() const {
  if (dead_ranks(*comm).empty()) return;
  throw Error(ErrorCode::mpi, "rank " + std::to_string(comm->rank()) + " gives up");  // guarded() names them
}

/// Counts the time in which this rank looked for progress and found none, of this look most_s at most: others may have
/// waited for this rank meanwhile.
void Exchange::State::check_watchdog(std::int64_t events_before, double most_s) {
  const double now_s = MPI_Wtime();
  if (events() != events_before || last_look_s == 0) {
    quiet_s = 0;
  } else {
    quiet_s += std::min(now_s - last_look_s, most_s);
  }
  last_look_s = now_s;
  if (quiet_s < watchdog_s) return;
  const std::string text = "rank " + std::to_string(comm->rank()) + " gives up after " +
                           std::to_string(quiet_s) + " s without progress: it waits for " + waits_for();
  throw Error(ErrorCode::timeout, text);
}

std::string Exchange::State::waits_for() const {
  if (barrier && barrier->is_under_way())
    return names_of({barrier->waits_for()}) + " at the end of step " + std::to_string(step);
  std::vector<Rank> ranks;
  if (credit) {
    arrivals.append_missing(ranks);
    credit->append_unsent(ranks);
    return names_of(ranks);
  }
  for (std::size_t i = step_begin().receive; i < step_ends[step].receive; ++i)
    if (!arrivals.has_landed(i)) ranks.push_back(receive_from[i]);
  for (std::size_t i = step_begin().send; i < step_ends[step].send; ++i) {
    int complete = 0;
    if (sends[i] != MPI_REQUEST_NULL)
      must(MPI_Request_get_status(sends[i], &complete, MPI_STATUS_IGNORE), "MPI_Request_get_status");
    if (complete == 0) ranks.push_back(send_to[i]);
  }
  return names_of(ranks);
}

/// What comes late must not be written into memory that the user has taken back. Sends cannot be called back.
void Exchange::State::give_up() noexcept {
  if (credit) {
    credit->cancel_receives();
  } else {
    receives.cancel(0, receives.size());
    if (barrier) barrier->give_up();
  }
}

}  // namespace nuice::mpi
