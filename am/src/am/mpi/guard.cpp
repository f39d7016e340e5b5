// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/guard.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/support/watchdog.hpp"

namespace nuice::am::mpi {
namespace {

constexpr auto look_every = std::chrono::milliseconds(50);
/// The time for which a call may still end after a rank that takes part in it has died.
constexpr double after_a_death_s = 0.2;
constexpr double orphan_patience_s = 2;
/// The longest time between two checks that is counted. A longer time means that the whole process was
/// stopped.
constexpr double most_between_looks_s = 0.1;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void end_process(Rank rank, const std::string& why, const char* call) {
  std::fprintf(stderr, "nuice: rank %d gives up%s; %s cannot be interrupted, so this process ends\n",
               static_cast<int>(rank), why.c_str(), call);
  std::fflush(stderr);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

Guard::Guard(Rank rank, double watchdog_s)
    : rank_(rank), watchdog_s_(watchdog_s), thread_([this] { run(); }) {}

Guard::~Guard() {
  {
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

void Guard::watch(const Neighbours& neighbours) {
  const std::scoped_lock lock(mutex_);
  neighbours_ = neighbours;
}

void Guard::run() {
  QuietTime quiet;
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, look_every, [this] { return has_ended_; })) {
    const std::uint64_t count = count_.load(std::memory_order_acquire);
    if (count % 2 == 0) quiet.restart();
    quiet.look(static_cast<std::int64_t>(count), now_s(), most_between_looks_s);
    if (count % 2 == 1) look(quiet.seconds());
  }
}

void Guard::look(double seconds) {
  const char* const call = name_.load(std::memory_order_relaxed);
  if (neighbours_ && seconds >= after_a_death_s) {
    const std::vector<Rank>& dead = neighbours_->dead_ranks();
    if (!dead.empty()) end_process(rank_, "; dead: " + names_of(dead), call);
    if (seconds >= orphan_patience_s && neighbours_->is_orphan())
      end_process(rank_, ": its launcher is gone", call);
  }
  if (watchdog_s_ > 0 && seconds >= watchdog_s_) {
    const std::string text = std::to_string(seconds);
    end_process(rank_, " after " + text.substr(0, text.find('.') + 3) + " s", call);
  }
}

}  // namespace nuice::am::mpi
