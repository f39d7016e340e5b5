// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/processes.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX, and <csignal> need not have it
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/support/process_state.hpp"

namespace nuice::am::mpi {
namespace {

constexpr std::size_t looks_per_call = 8;

}  // namespace

Process this_process() {
  Process process{.number = getpid()};
  if (const auto state = core::process_state(process.number)) process.begun = state->begun;
  struct stat name_space = {};
  if (stat("/proc/self/ns/pid", &name_space) == 0)
    process.name_space = static_cast<std::int64_t>(name_space.st_ino);
  return process;
}

bool is_alive(const Process& process) {
  if (kill(static_cast<pid_t>(process.number), 0) != 0 && errno == ESRCH) return false;
  const auto state = core::process_state(process.number);
  if (!state) return true;  // nobody tells, or it has gone since: the next look will say so
  return state->letter != 'Z' && state->letter != 'X' && state->begun == process.begun;
}

Neighbours::Neighbours(const std::vector<Rank>& ranks, const std::vector<Process>& processes)
    : parent_(getppid()) {
  const Process me = this_process();
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (processes[i].name_space == me.name_space && processes[i] != me)
      living_.push_back({ranks[i], processes[i]});
}

const std::vector<Rank>& Neighbours::dead_ranks() {
  for (std::size_t looks = std::min(looks_per_call, living_.size()); looks > 0; --looks) {
    next_ = next_ + 1 < living_.size() ? next_ + 1 : 0;
    if (is_alive(living_[next_].process)) continue;
    dead_.push_back(living_[next_].rank);
    living_.erase(living_.begin() + static_cast<std::ptrdiff_t>(next_));
    if (living_.empty()) break;
  }
  return dead_;
}

bool Neighbours::is_orphan() const { return getppid() != parent_; }

}  // namespace nuice::am::mpi
