// SPDX-License-Identifier: BSD-3-Clause
// Whether the processes of other ranks of this host still live. The system knows at once, whatever MPI does.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::am::mpi {

/// Told apart from a later one that gets the same number.
struct Process {
  std::int64_t number = 0;
  std::int64_t begun = 0;       // when, in ticks since the system was started
  std::int64_t name_space = 0;  // in which the number counts
  bool operator==(const Process&) const = default;
};

Process this_process();
/// False when it is gone, or waits for its parent to ask how it ended. In this process's name space.
bool is_alive(const Process& process);

/// Of a process, from the system (pidfd_open(2)): can be read from when it has ended.
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
  /// processes[i] is that of ranks[i]. Those in another name space of processes (containers) are not watched.
  Neighbours(const std::vector<Rank>& ranks, const std::vector<Process>& processes);
  /// Those that have gone. Some 2 us for a host of 64 ranks. Where the system does not tell by files (before Linux 5.3, or too few of
  /// them), a call looks at some of the processes only, the next at others: 5 to 30 us each.
  const std::vector<Rank>& dead_ranks();
  /// Whether the parent of this process is gone.
  bool is_orphan() const;

 private:
  struct Watched {
    Rank rank;
    Process process;
    std::shared_ptr<const EndOfProcess> end;  // null: is_alive() has to be asked
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
