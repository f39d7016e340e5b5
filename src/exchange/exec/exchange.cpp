// SPDX-License-Identifier: BSD-3-Clause
// What all executors share: the message of a rank to itself, errors, and the watchdog.
#include <atomic>
#include <cstdio>
#include <exception>

#include "core/text/names.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "mpi/call.hpp"
#include "mpi/failure.hpp"
#include "mpi/observing.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

void Exchange::State::start() {
  standing = Standing::broken;  // until all MPI calls below have returned
  observe_begin(Region::exchange, number());
  follows_ = false;
  quiet_.restart();
  Trace& trace = arrivals.trace();
  trace.note(Trace::Kind::start);
  if (self_message) self_message->copy(*comm, self_tag);
  if (run) {
    if (run->always_follows()) follow();
    run->start();
    if (trace.is_on()) follow();
  }
  standing = Standing::running;
}

bool Exchange::State::advance(bool block) {
  standing = Standing::broken;  // until all MPI calls below have returned
  Trace& trace = arrivals.trace();
  if (block) trace.note(Trace::Kind::wait);
  const bool done = !run || (watches()       ? advance_watching(block)
                             : trace.is_on() ? advance_noting(block)
                                             : run->advance(block));
  if (done) trace.note(Trace::Kind::over);
  if (done) observe_end(Region::exchange, number());
  standing = done ? Standing::idle : Standing::running;
  return done;
}

/// Completes messages one by one, so that the trace records when each lands.
bool Exchange::State::advance_noting(bool block) {
  while (!run->next(block)) {
    while (arrivals.take()) {
    }
    if (!block) return false;
  }
  return true;
}

/// Records the arrival of messages that are already here, and all later arrivals.
void Exchange::State::follow() {
  if (follows_) return;
  follows_ = true;
  arrivals.start();
  if (self_message || self_is_copied_by_run) arrivals.land_copied(comm->rank());
  if (run) run->follow();
}

std::optional<Arrival> Exchange::State::next(bool block) {
  follow();
  standing = Standing::broken;  // until all MPI calls below have returned
  if (block) arrivals.trace().note(Trace::Kind::wait);
  std::optional<Arrival> arrival = arrivals.take();
  bool is_over = false;
  bool is_first_look = true;
  Patience patience;
  for (bool again = !arrival; again;) {
    const bool done = !run || (watches() ? advance_watching(false, is_first_look) : run->next(block));
    is_first_look = false;
    arrival = arrivals.take();
    is_over = done && !arrival;
    again = block && !done && !arrival;
    if (again && watches()) patience.found_nothing();
  }
  if (is_over) {
    arrivals.trace().note(Trace::Kind::over);
    observe_end(Region::exchange, number());
  }
  standing = is_over ? Standing::idle : Standing::running;
  return arrival;
}

/// Makes progress, and checks the watchdog and dead ranks. This rank may itself have been stopped between two
/// checks, so the time between two checks counts as at most watchdog_s / 10: the rank gives up after ten
/// checks at the earliest. Between two calls the program computes, so the time between two calls counts as at
/// most watchdog_s / 1000.
bool Exchange::State::advance_watching(bool block, bool is_first_look) {
  const double most_while_waiting_s = watchdog_s / 10;
  const double most_between_calls_s = watchdog_s / 1000;
  follow();
  Patience patience;
  while (true) {
    const std::int64_t before = run->num_events();
    if (run->next(false)) return true;
    if (watches_deaths && run->num_events() == before) check_deaths();
    if (watchdog_s > 0) check_watchdog(is_first_look ? most_between_calls_s : most_while_waiting_s);
    if (!block) return false;
    is_first_look = false;
    if (run->num_events() != before) patience.found_something();
    patience.found_nothing();
  }
}

/// Throws if any rank of the communicator is dead. Even a rank without messages for the dead rank gives up:
/// it may wait for a rank that has such messages and gave up.
void Exchange::State::check_deaths() const {
  if (dead_ranks(*comm).empty()) return;
  throw Error(ErrorCode::mpi, "rank " + std::to_string(comm->rank()) + " gives up");  // guarded() adds names
}

void Exchange::State::check_watchdog(double most_s) {
  quiet_.look(run->num_events(), MPI_Wtime(), most_s);
  if (quiet_.seconds() < watchdog_s) return;
  throw Error(ErrorCode::timeout, "rank " + std::to_string(comm->rank()) + " gives up after " +
                                      std::to_string(quiet_.seconds()) +
                                      " s without progress: it waits for " + run->waits_for());
}

template <typename Act>
auto Exchange::State::guarded(Act&& act) {
  try {
    return act();
  } catch (const Error& error) {
    give_up(error);
  }
}

/// Ends the exchange after an error, and throws the error. A device's error is sent to the other ranks,
/// because they would wait for this rank's data and cannot know of its driver.
void Exchange::State::give_up(const Error& error) {
  standing = Standing::broken;
  const bool is_told = faults && error.code() == ErrorCode::device && !faults->has_failed();
  const Error told = is_told ? Error(error.code(), rank_name(comm->rank()) + ": " + error.what())
                             : with_dead_ranks(error, *comm);
  if (is_told) faults->tell(told);
  if (run) run->cancel();
  observe_end(Region::exchange, number());
  throw Error(told);
}

/// Prints one line, because a program that never calls wait() reads buffers that are not filled, and gets no
/// other hint.
void Exchange::State::say_forgotten(const char* what) const noexcept {
  static std::atomic<bool> is_said = false;
  if (std::uncaught_exceptions() > 0 || is_said.exchange(true)) return;
  std::fprintf(stderr,
               "nuice: rank %d: an exchange was destroyed %s: call wait() after every start(), before its "
               "data is read\n",
               comm->rank(), what);
}

void Exchange::State::finish_quietly() noexcept {
  if (standing != Standing::running) return;
  say_forgotten(is_finalized() ? "after MPI_Finalize() while it was active" : "while it was active");
  if (is_finalized()) return;
  try {
    guarded([this] { advance(true); });
  } catch (const Error&) {
    // A destructor cannot report the error.
  }
}

/// Frees an exchange. MPI may still read the memory of sends that no rank has received. So if the exchange
/// was given up, MPI keeps its requests and memory. (Open MPI also ends the program when a request fails
/// after it was freed.)
void Exchange::State::release(std::unique_ptr<State> state) noexcept {
  if (!state) return;
  state->finish_quietly();
  state->arrivals.trace().write();
  if (state->standing != Standing::broken) return;
  static std::atomic<State*> last_left = nullptr;  // leak checkers find the rest from here
  State* const left = state.release();
  left->left_before = last_left.exchange(left);
}

void Run::ready(std::size_t /*index*/) {
  throw Error(ErrorCode::not_applicable, "ready(): needs the option parts=true");
}
bool Run::arrived(std::size_t /*index*/) {
  throw Error(ErrorCode::not_applicable, "arrived(): needs the option parts=true");
}

Exchange::Exchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
Exchange::Exchange(Exchange&&) noexcept = default;

Exchange& Exchange::operator=(Exchange&& other) noexcept {
  if (this == &other) return *this;
  State::release(std::move(state_));
  state_ = std::move(other.state_);
  return *this;
}

Exchange::~Exchange() { State::release(std::move(state_)); }

Exchange::State& Exchange::state() const {
  if (!state_) throw Error(ErrorCode::state, "the exchange was freed");
  if (state_->standing == State::Standing::broken)
    throw Error(ErrorCode::state, "the exchange was given up after an error");
  require_running("a call of an exchange");
  return *state_;
}

void Exchange::start() { start(nullptr); }

void Exchange::start(void* stream) {
  if (is_under_way())
    throw Error(ErrorCode::state, "start() before the previous exchange finished: call wait() first");
  state_->streams = {.start = stream};
  state_->guarded([this] { state_->start(); });
}

void Exchange::give_up(const Error& error) { state_->give_up(error); }

bool Exchange::test() {
  if (!is_under_way()) throw Error(ErrorCode::state, "test(): the exchange was not started");
  return state_->guarded([this] { return state_->advance(false); });
}

void Exchange::wait() {
  if (!is_under_way()) throw Error(ErrorCode::state, "wait(): the exchange was not started");
  state_->guarded([this] { state_->advance(true); });
}

void Exchange::wait(void* stream) {
  if (!is_under_way()) throw Error(ErrorCode::state, "wait(): the exchange was not started");
  state_->streams.has_wait = true;
  state_->streams.wait = stream;
  state_->guarded([this] { state_->advance(true); });
}

std::optional<Arrival> Exchange::next() {
  if (!is_under_way()) throw Error(ErrorCode::state, "next(): the exchange was not started");
  return state_->guarded([this] { return state_->next(true); });
}

std::optional<Arrival> Exchange::poll() {
  if (!is_under_way()) throw Error(ErrorCode::state, "poll(): the exchange was not started");
  return state_->guarded([this] { return state_->next(false); });
}

/// Does not call state(), because the waiting thread changes the variables that state() reads.
void Exchange::ready(std::size_t index) {
  if (!state_) throw Error(ErrorCode::state, "the exchange was freed");
  if (!state_->run) return;
  state_->run->ready(index);
}

bool Exchange::arrived(std::size_t index) {
  if (!state_) throw Error(ErrorCode::state, "the exchange was freed");
  return !state_->run || state_->run->arrived(index);
}

bool Exchange::is_under_way() const { return state().standing == State::Standing::running; }

const ExchangeInfo& Exchange::info() const {
  if (state().run) state_->run->describe(state_->info);
  return state_->info;
}

void Exchange::free() {
  if (!state_) return;
  if (state_->standing == State::Standing::running)
    throw Error(ErrorCode::state, "free(): the exchange is active; wait for it first");
  State::release(std::move(state_));
}

}  // namespace nuice::mpi
