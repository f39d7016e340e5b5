// SPDX-License-Identifier: BSD-3-Clause
// Whether the processes of other ranks of this host still live. The system knows at once, whatever MPI does.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
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

class Neighbours {
 public:
  /// processes[i] is that of ranks[i]. Those in another name space of processes (containers) are not watched.
  Neighbours(const std::vector<Rank>& ranks, const std::vector<Process>& processes);
  /// Those that have gone. A call looks at some of the processes only, the next at others: some 5 us each.
  const std::vector<Rank>& dead_ranks();
  /// Whether the parent of this process is gone.
  bool is_orphan() const;

 private:
  struct Watched {
    Rank rank;
    Process process;
  };
  std::vector<Watched> living_;
  std::size_t next_ = 0;
  std::vector<Rank> dead_;
  pid_t parent_;
};

}  // namespace nuice::am::mpi
