// SPDX-License-Identifier: BSD-3-Clause
#include "drs/run.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "am/endpoint_core.hpp"
#include "nuice/am/progress.hpp"
#include "nuice/core/error.hpp"

namespace nuice::drs {
namespace {

/// Makes a step of a run. Returns true if the run has ended, successfully or not.
bool is_over_after_step(Run& run, am::FirstError& held) {
  try {
    return run.step(held);
  } catch (const am::TransportError&) {
    throw;
  } catch (...) {
    run.fail(std::current_exception());
    return true;
  }
}

}  // namespace

// Masked, because handlers change the runs too, and with interrupts or a progress thread handlers may run at
// any time.
void ActiveRuns::step(am::FirstError& held) {
  const am::Mask mask(*endpoint);
  if (endpoint->core().in_progress_)
    throw Error(ErrorCode::state, "test() or wait() was called inside a handler");
  held.of([this] { endpoint->poll(); });
  for (std::size_t i = 0; i < running.size();) {
    Run* const run = running[i];
    if (!is_over_after_step(*run, held)) {
      ++i;
      continue;
    }
    run->complete();
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void ActiveRuns::check_watchdog(bool is_first) {
  const double limit_s = endpoint->core().options_.watchdog_s;
  if (limit_s == 0) return;
  const am::Mask mask(*endpoint);
  auto moved = static_cast<std::int64_t>(num_bound);
  for (const Run* const run : running) moved += run->num_moved();
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  quiet.look(moved, std::chrono::duration<double>(now).count(), is_first ? limit_s / 1000 : limit_s / 10);
  if (quiet.seconds() < limit_s) return;
  std::vector<Rank> ranks;
  for (const Run* const run : running) run->append_waited_for(ranks);
  endpoint->core().time_out("rank " + std::to_string(endpoint->rank()) + " gives up after " +
                            std::to_string(quiet.seconds()) + " s without progress: it waits for " +
                            names_of(ranks));
}

Run::Run(std::shared_ptr<void> keeps_alive, ActiveRuns& active, Messages messages, const Options& options)
    : keeps_alive_(std::move(keeps_alive)),
      active_(active),
      messages_(std::move(messages)),
      options_(options),
      waiting_(messages_.out.size()),
      not_before_(options.delay_us > 0 ? messages_.out.size() : 0) {
  active_.running.reserve(active_.num_bound + 1);
  ++active_.num_bound;
}

Run::~Run() {
  std::erase(active_.running, this);
  --active_.num_bound;
}

void Run::start() {
  if (!messages_.self_to.empty())
    std::memcpy(messages_.self_to.data(), messages_.self_from.data(), messages_.self_to.size());
  const am::Mask mask(*active_.endpoint);  // for handlers the round begins at once
  broken_ = true;                          // until all steps below have succeeded
  ++round_;
  std::iota(waiting_.begin(), waiting_.end(), 0U);
  first_waiting_ = 0;
  num_waiting_ = waiting_.size();
  std::ranges::fill(not_before_, Clock::time_point{});
  counters_.messages += messages_.out.size();
  begin();
  active_.running.push_back(this);
  active_.quiet.restart();
  complete_ = false;
  started_ = true;
  broken_ = false;
}

bool Run::advance(bool block) {
  am::FirstError held;
  try {
    for (bool is_first = true; !complete_ && (is_first || block); is_first = false) {
      active_.step(held);
      if (!complete_) active_.check_watchdog(is_first);
    }
  } catch (const am::TransportError&) {
    broken_ = true;
    throw;
  }
  if (failure_) {
    broken_ = true;
    if (held.is_there()) active_.endpoint->core().throw_later(held.take());
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  if (block || !held.is_there())
    started_ = !complete_;  // if a test() throws, the next call reports the completion
  if (held.is_there()) std::rethrow_exception(held.take());
  return complete_;
}

void Run::finish_quietly() noexcept {
  if (!started_ || broken_ || is_over()) return;
  try {
    advance(true);
  } catch (...) {
    // A destructor cannot report the handler's error, so the next poll throws it.
    if (!broken_ && !started_) active_.endpoint->core().throw_later(std::current_exception());
  }
}

/// Destroys a run. After a failure the run is left in memory, because other ranks may still access it, and
/// its collective parts would wait for them.
void Run::release(std::unique_ptr<Run> run) noexcept {
  if (!run) return;
  run->finish_quietly();
  if (!run->is_over() && run->active_.endpoint->has_failed()) {
    [[maybe_unused]] const Run* const left = run.release();
  }
}

Counters Run::counters() const {
  const am::Mask mask(*active_.endpoint);
  return counters_;
}

int Run::next_to_ask() {
  const auto now = not_before_.empty() ? Clock::time_point{} : Clock::now();
  for (std::size_t tried = 0; tried < num_waiting_; ++tried) {
    const std::uint32_t message = waiting_[first_waiting_];
    first_waiting_ = (first_waiting_ + 1) % waiting_.size();
    if (not_before_.empty() || not_before_[message] <= now) {
      --num_waiting_;
      return static_cast<int>(message);
    }
    waiting_[(first_waiting_ + num_waiting_ - 1) % waiting_.size()] = message;
  }
  return -1;
}

void Run::ask_again_later(std::uint32_t message) {
  waiting_[(first_waiting_ + num_waiting_++) % waiting_.size()] = message;
  if (!not_before_.empty())
    not_before_[message] = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double, std::micro>(options_.delay_us));
}

Exchange::Exchange(std::unique_ptr<Run> run) : run_(std::move(run)) {}
Exchange::Exchange(Exchange&&) noexcept = default;

Exchange& Exchange::operator=(Exchange&& other) noexcept {
  if (this == &other) return *this;
  Run::release(std::move(run_));
  run_ = std::move(other.run_);
  return *this;
}

Exchange::~Exchange() { Run::release(std::move(run_)); }

Run& Exchange::run() const {
  if (!run_) throw Error(ErrorCode::state, "the exchange was freed");
  if (run_->is_broken()) throw Error(ErrorCode::state, "the exchange was given up after an error");
  return *run_;
}

void Exchange::start() {
  if (run().is_started())
    throw Error(ErrorCode::state, "start() before the previous exchange finished: call wait() first");
  run_->start();
}

bool Exchange::test() {
  if (!run().is_started()) throw Error(ErrorCode::state, "test(): the exchange was not started");
  return run_->advance(false);
}

void Exchange::wait() {
  if (!run().is_started()) throw Error(ErrorCode::state, "wait(): the exchange was not started");
  run_->advance(true);
}

Counters Exchange::counters() const { return run().counters(); }

void Exchange::free() {
  if (!run_) return;
  if (run_->is_started() && !run_->is_broken())
    throw Error(ErrorCode::state, "free(): the exchange is active; wait for it first");
  Run::release(std::move(run_));
}

}  // namespace nuice::drs
