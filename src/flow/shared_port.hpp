// SPDX-License-Identifier: BSD-3-Clause
// Lets the processes of a host that share a network port exchange counts. They map the same memory, with one
// slot per process. A process writes its own slot and reads the others, so no process waits for another or
// leads them. The slot of a process that dies is no longer renewed, and another process may take it.
//
// The memory is a file of 16 KiB in /dev/shm, separate for each user, network namespace and address. The last
// process that leaves removes it. If processes are killed, the file stays and the next job uses it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace nuice::flow {

class SharedPort {
 public:
  /// Counts of one process, or sums over all processes. Segment counts never decrease while a process lives.
  struct Counts {
    int num_senders = 0;  // active now
    std::int64_t segments = 0;
    std::int64_t lost_segments = 0;
  };

  /// If the memory cannot be created or mapped, this process shares nothing.
  explicit SharedPort(const std::string& address);
  ~SharedPort();
  SharedPort(SharedPort&& other) noexcept;
  SharedPort& operator=(SharedPort&& other) noexcept;

  /// Publishes this process's counts and returns the sum over all processes. Senders of a process that
  /// published its counts longer than active_for_s ago are left out. Segments of processes that ended are
  /// included. now_s: the system's monotonic clock. Cost: about 10 ns per process.
  Counts exchange(const Counts& own, double now_s, double active_for_s);

  /// Leaves the group: exchange() returns this process's own counts from now on.
  void leave();

  static constexpr int most_processes = 256;  // of a host; further processes share nothing

 private:
  struct alignas(64) Slot {
    std::atomic<std::int64_t> owner;
    std::atomic<double> told_s;
    std::atomic<int> num_senders;
    std::atomic<std::int64_t> segments;
    std::atomic<std::int64_t> lost_segments;
  };

  Slot* own_slot(const Counts& own, double now_s);

  std::string name_;
  Slot* slots_ = nullptr;
  Slot* own_ = nullptr;
  std::int64_t token_ = 0;  // identifies this process; never 0
  Counts base_;             // the slot's counts when it was taken, minus this process's then
};

}  // namespace nuice::flow
