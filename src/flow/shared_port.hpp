// SPDX-License-Identifier: BSD-3-Clause
// What the processes of a host that share a network port tell each other: memory that all of them map, one slot for each. A process
// writes its own slot and reads the others', so no process waits and none is in charge; a process that dies leaves a slot that is not
// renewed, and another may take it.
//
// The memory is a file of 16 KiB in /dev/shm, for one user, network namespace and address. The last process to leave removes it; after
// kill -9 it stays and serves the next job.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace nuice::flow {

class SharedPort {
 public:
  /// Of all processes, or of one. Counts only grow while a process lives.
  struct Counts {
    int num_senders = 0;  // active now
    std::int64_t segments = 0;
    std::int64_t lost_segments = 0;
  };

  /// Where the memory cannot be had, this process is alone.
  explicit SharedPort(const std::string& address);
  ~SharedPort();
  SharedPort(SharedPort&& other) noexcept;
  SharedPort& operator=(SharedPort&& other) noexcept;

  /// Tells the others, and returns the sum over all. Senders of processes that told theirs longer than active_for_s ago
  /// do not count. now_s: of the system's monotonic clock. Segments include those of processes that are gone. Costs some 10 ns for each process.
  Counts exchange(const Counts& own, double now_s, double active_for_s);

  /// From now on this process is alone.
  void leave();

  static constexpr int most_processes = 256;  // of a host; more are left alone

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
  std::int64_t token_ = 0;  // of this process, never 0
  Counts base_;             // of the slot when it was taken, less those of this process then
};

}  // namespace nuice::flow
