// SPDX-License-Identifier: BSD-3-Clause
// Checks whether the processes of other ranks of this host are alive. The system knows at once, regardless of
// MPI.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::am::mpi {

/// Identifies a process, even if a later process gets the same number.
struct Process {
  std::int64_t number = 0;
  std::int64_t begun = 0;       // start time in ticks since the system was started
  std::int64_t name_space = 0;  // the name space in which the number counts
  bool operator==(const Process&) const = default;
};

Process this_process();
/// Returns false if the process has ended, even if its parent has not yet collected its status. Requires that
/// the process is in this name space.
bool is_alive(const Process& process);

/// A file of the system that stands for a process (pidfd_open(2)). It becomes readable when the process has
/// ended.
class EndOfProcess {
 public:
  explicit EndOfProcess(int file) : file_(file) {}
  EndOfProcess(const EndOfProcess&) = delete;
  EndOfProcess& operator=(const EndOfProcess&) = delete;
  ~EndOfProcess();
  int file() const { return file_; }

 private:
  int file_;
};

class Neighbours {
 public:
  /// processes[i] belongs to ranks[i]. Processes in another name space (containers) are not watched.
  Neighbours(const std::vector<Rank>& ranks, const std::vector<Process>& processes);
  /// Returns the ranks whose processes have ended. Takes about 2 us for a host of 64 ranks. If the system has
  /// no files for processes (before Linux 5.3, or too few of them), each call checks only some of the
  /// processes, and the next call others. It then takes 5 to 30 us.
  const std::vector<Rank>& dead_ranks();
  /// Whether the parent of this process has ended.
  bool is_orphan() const;

 private:
  struct Watched {
    Rank rank;
    Process process;
    std::shared_ptr<const EndOfProcess> end;  // null: is_alive() must be called
    bool is_dead = false;
  };
  void note_death(Watched& watched);
  void look_at_ends();
  void ask();
  std::vector<Watched> watched_;
  std::size_t next_ = 0;
  std::vector<Rank> dead_;
  pid_t parent_;
};

}  // namespace nuice::am::mpi
