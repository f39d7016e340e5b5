// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/processes.hpp"

#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX, and <csignal> need not have it
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "core/support/process_state.hpp"

namespace nuice::am::mpi {
namespace {

constexpr std::size_t looks_per_call = 8;

/// Returns the maximum number of files for watching the neighbours' processes, a quarter of the files that
/// this process may open.
std::size_t most_files() {
  rlimit limit = {};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<std::size_t>(limit.rlim_cur) / 4 : 0;
}

/// Returns the file for a process; null if there is none. All endpoints that watch the process share it.
std::shared_ptr<const EndOfProcess> end_of(const Process& process) {
#ifdef SYS_pidfd_open
  static std::mutex mutex;
  static auto* const ends =
      new std::map<std::pair<std::int64_t, std::int64_t>, std::weak_ptr<const EndOfProcess>>();
  const std::scoped_lock lock(mutex);
  std::weak_ptr<const EndOfProcess>& known = (*ends)[{process.number, process.begun}];
  if (auto end = known.lock()) return end;
  const long file = syscall(SYS_pidfd_open, static_cast<pid_t>(process.number), 0);
  if (file < 0) return nullptr;
  auto end = std::make_shared<const EndOfProcess>(static_cast<int>(file));
  if (!is_alive(process)) return nullptr;  // the file may belong to a later process
  known = end;
  return end;
#else
  (void)process;
  return nullptr;
#endif
}

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
  if (!state) return true;  // unknown, or ended just now; the next check will show it
  return state->letter != 'Z' && state->letter != 'X' && state->begun == process.begun;
}

EndOfProcess::~EndOfProcess() { close(file_); }

Neighbours::Neighbours(const std::vector<Rank>& ranks, const std::vector<Process>& processes)
    : parent_(getppid()) {
  const Process me = this_process();
  const bool by_files = processes.size() <= most_files();
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (processes[i].name_space == me.name_space && processes[i] != me)
      watched_.push_back({ranks[i], processes[i], by_files ? end_of(processes[i]) : nullptr, false});
}

const std::vector<Rank>& Neighbours::dead_ranks() {
  look_at_ends();
  ask();
  return dead_;
}

void Neighbours::look_at_ends() {
  std::array<pollfd, 64> files{};
  for (std::size_t from = 0; from < watched_.size(); from += files.size()) {
    const std::size_t num = std::min(files.size(), watched_.size() - from);
    for (std::size_t i = 0; i < num; ++i) {
      const Watched& watched = watched_[from + i];
      files[i] = {watched.end && !watched.is_dead ? watched.end->file() : -1, POLLIN, 0};  // -1: ignored by
                                                                                           // poll()
    }
    if (poll(files.data(), num, 0) <= 0) continue;
    for (std::size_t i = 0; i < num; ++i)
      if (files[i].revents != 0) note_death(watched_[from + i]);
  }
}

void Neighbours::ask() {
  for (std::size_t looks = std::min(looks_per_call, watched_.size()); looks > 0; --looks) {
    next_ = next_ + 1 < watched_.size() ? next_ + 1 : 0;
    Watched& watched = watched_[next_];
    if (!watched.end && !watched.is_dead && !is_alive(watched.process)) note_death(watched);
  }
}

void Neighbours::note_death(Watched& watched) {
  watched.is_dead = true;
  dead_.push_back(watched.rank);
}

bool Neighbours::is_orphan() const { return getppid() != parent_; }

}  // namespace nuice::am::mpi
