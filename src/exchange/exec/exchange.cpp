// SPDX-License-Identifier: BSD-3-Clause
// The executors. `credit` is in credit.hpp; the other three walk through steps, and differ only in what bind() makes a
// step:
//
//   start:   copy the message to itself; start all receives; start the sends of the first step
//   advance: while the step's sends and receives are complete: (barrier) ; start the sends of the next step
//
// Why no rank waits forever: all receives are posted before anything else, so the sends of a rank's step p
// complete as soon as their receivers have called start(). By induction on p, when all ranks have begun step
// p - 1 and wait for it, its sends and receives complete, so all ranks come to step p. A barrier only waits
// for what this shows to happen.
//
// Why pieces land where they belong: the requests of one exchange share a tag and are started, between two
// ranks, in the same order on both sides; MPI does not let messages with the same envelope overtake each
// other.
#include <algorithm>
#include <cstring>

#include "exchange/exec/exchange_state.hpp"
#include "mpi/call.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

void Exchange::State::start() {
  running = true;
  broken = true;  // until all MPI calls below have returned
  step = 0;
  follows = false;
  quiet_s = last_look_s = 0;
  for (PackedMessage& message : packed_receives) message.is_scattered = false;
  if (self.bytes > 0) std::memcpy(self.to, self.from, self.bytes);
  if (self_message) {
    const auto& [from, to, tag] = *self_message;
    must(MPI_Sendrecv(from.at, from.count, from.type, comm->rank(), tag, to.at, to.count, to.type,
                      comm->rank(), tag, comm->get(), MPI_STATUS_IGNORE),
         "MPI_Sendrecv");
  }
  if (credit) {  // it notes every arrival; the others only when somebody follows
    start_arrivals();
    credit->start();
    broken = false;
    return;
  }
  if (is_plain) {
    start_plain();
  } else {
    // MPI_Startall may start in any order, which would mix up several pieces from one source.
    receives_repeat ? receives.start(0, receives.size()) : receives.start_unordered(0, receives.size());
    if (!step_ends.empty()) start_sends();
  }
  broken = false;
}

void Exchange::State::start_plain() {
  const std::size_t persistent = sends.are_persistent() ? both_.size() : receives.size();
  if (persistent > 0) must(MPI_Startall(static_cast<int>(persistent), both_.data()), "MPI_Startall");
  if (persistent < both_.size()) sends.start_in(both_.data() + receives.size());
}

/// Unless somebody follows it.
bool Exchange::State::plain_is_done(bool block) {
  const int count = static_cast<int>(both_.size());
  int done = 1;
  if (block) {
    must(MPI_Waitall(count, both_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  } else {
    must(MPI_Testall(count, both_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  }
  return done != 0;
}

void Exchange::State::start_sends() {
  const std::size_t begin = step_begin().send;
  const std::size_t end = step_ends[step].send;
  if (!packed_sends.empty())
    for (std::size_t i = begin; i < end; ++i) packed_sends[i].gather();
  if (window.empty()) {
    sends_repeat ? sends.start(begin, end) : sends.start_unordered(begin, end);
    return;
  }
  next_send = std::min(end, window.size());
  sends.start(0, next_send);
  for (std::size_t i = 0; i < window.size(); ++i) window[i] = i < next_send ? sends[i] : MPI_REQUEST_NULL;
}

bool Exchange::State::advance(bool block) {
  broken = true;  // until all MPI calls below have returned
  const bool done = watches()              ? advance_watching(block)
                    : is_plain && !follows ? plain_is_done(block)
                    : credit               ? credit->advance(block, arrivals)
                                           : advance_steps(block);
  broken = false;
  running = !done;
  return done;
}

bool Exchange::State::advance_steps(bool block) {
  while (step < step_ends.size()) {
    if (!step_is_done(block)) return false;
    const bool is_last = step + 1 == step_ends.size();
    if (barrier && !is_last && !barrier->is_over(block)) return false;
    begin_next_step();
  }
  return true;
}

/// The last step is followed by none.
void Exchange::State::begin_next_step() {
  ++step;
  ++num_events;
  if (step < step_ends.size()) start_sends();
}

/// Once true it stays so until the next step: complete requests are inactive or null, which counts as done.
bool Exchange::State::step_is_done(bool block) {
  const StepEnd begin = step_begin();
  const StepEnd end = step_ends[step];
  if (!window.empty() && !window_is_done(block)) return false;
  if (!requests_are_done(begin, end, block)) return false;
  scatter(begin.receive, end.receive);
  if (follows) arrivals.land_receives(begin.receive, end.receive);
  return true;
}

/// These receives are complete.
void Exchange::State::scatter(std::size_t begin, std::size_t end) {
  if (packed_receives.empty()) return;
  for (std::size_t i = begin; i < end; ++i) packed_receives[i].scatter();
}

/// Those that are not under way count as done.
bool Exchange::State::requests_are_done(const StepEnd& begin, const StepEnd& end, bool block) {
  const std::size_t num_receives = end.receive - begin.receive;
  const int count = static_cast<int>(num_receives + end.send - begin.send);
  if (count == 0) return true;
  MPI_Request* const of_step = both_.data() + begin.receive + begin.send;
  const bool has_shorts = !sends.are_persistent();
  if (has_shorts) sends.copy_to(begin.send, end.send, of_step + num_receives);
  int done = 1;
  const int code = block ? MPI_Waitall(count, of_step, MPI_STATUSES_IGNORE)
                         : MPI_Testall(count, of_step, &done, MPI_STATUSES_IGNORE);
  if (has_shorts) sends.give_back(begin.send, end.send, of_step + num_receives);
  must(code, block ? "MPI_Waitall" : "MPI_Testall");
  return done != 0;
}

/// Whenever a send in the window completes, the next one takes its place.
bool Exchange::State::window_is_done(bool block) {
  const int places = static_cast<int>(window.size());
  while (true) {
    int place = MPI_UNDEFINED;
    int found = 1;
    if (block) {
      must(MPI_Waitany(places, window.data(), &place, MPI_STATUS_IGNORE), "MPI_Waitany");
    } else {
      must(MPI_Testany(places, window.data(), &place, &found, MPI_STATUS_IGNORE), "MPI_Testany");
    }
    if (found == 0) return false;
    if (place == MPI_UNDEFINED) return true;  // no place holds a running send
    refill_window(static_cast<std::size_t>(place));
  }
}

void Exchange::State::refill_window(std::size_t place) {
  const bool more = next_send < sends.size();
  if (more) sends.start(next_send, next_send + 1);
  window[place] = more ? sends[next_send++] : MPI_REQUEST_NULL;
}

/// Acts on an exchange. One that fails is given up: nothing is written into the user's memory any more, and an error of MPI
/// names the ranks that have died.
template <typename Act>
auto Exchange::State::guarded(Act&& act) {
  try {
    return act();
  } catch (const Error& error) {
    const Error told = with_dead_ranks(error, *comm);
    give_up();
    throw Error(told);
  }
}

void Exchange::State::finish_quietly() noexcept {
  if (!running || broken || is_finalized()) return;
  try {
    guarded([this] { advance(true); });
  } catch (const Error&) {
    // A destructor has nobody to tell.
  }
}

/// Sends that nobody has taken may still be read, and so may what they are read from: one that was given up is left to MPI as
/// it is, with its memory. (Open MPI also ends the program when a request fails after it was freed.)
void Exchange::State::let_go(std::unique_ptr<State> state) noexcept {
  if (!state) return;
  state->finish_quietly();
  if (!state->broken) return;
  [[maybe_unused]] const State* const left = state.release();
}

Exchange::Exchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
Exchange::Exchange(Exchange&&) noexcept = default;

Exchange& Exchange::operator=(Exchange&& other) noexcept {
  if (this == &other) return *this;
  State::let_go(std::move(state_));
  state_ = std::move(other.state_);
  return *this;
}

Exchange::~Exchange() { State::let_go(std::move(state_)); }

Exchange::State& Exchange::state() const {
  if (!state_) throw Error(ErrorCode::state, "the exchange was freed");
  if (state_->broken) throw Error(ErrorCode::state, "the exchange was given up after an error");
  require_running("a call of an exchange");
  return *state_;
}

void Exchange::start() {
  if (state().running) throw Error(ErrorCode::state, "start(): the exchange is already under way");
  state_->guarded([this] { state_->start(); });
}

bool Exchange::test() {
  if (!state().running) throw Error(ErrorCode::state, "test(): the exchange was not started");
  return state_->guarded([this] { return state_->advance(false); });
}

void Exchange::wait() {
  if (!state().running) throw Error(ErrorCode::state, "wait(): the exchange was not started");
  state_->guarded([this] { state_->advance(true); });
}

std::optional<Arrival> Exchange::next() {
  if (!state().running) throw Error(ErrorCode::state, "next(): the exchange was not started");
  return state_->guarded([this] { return state_->next(true); });
}

std::optional<Arrival> Exchange::poll() {
  if (!state().running) throw Error(ErrorCode::state, "poll(): the exchange was not started");
  return state_->guarded([this] { return state_->next(false); });
}

bool Exchange::is_under_way() const { return state().running; }

void Exchange::free() {
  if (!state_) return;
  if (state_->running && !state_->broken)
    throw Error(ErrorCode::state, "free(): the exchange is under way; wait for it first");
  State::let_go(std::move(state_));
}

}  // namespace nuice::mpi
