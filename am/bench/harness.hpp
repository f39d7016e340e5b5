// SPDX-License-Identifier: BSD-3-Clause
// How everything is timed: methods that do the same thing take turns, repetition by repetition, so that what disturbs
// the machine disturbs all of them; the median over the repetitions is what counts.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nuice::am_bench {

/// One way of doing what a group measures.
struct Method {
  std::string name;  ///< "am:shm", "mpi:ring", ...
  /// Collective. Does the work once and returns the seconds of one operation, 0 on ranks that do not time.
  std::function<double()> run;
};

/// Methods that are compared with each other.
struct Group {
  std::string pattern;    ///< "pingpong", "flood", ...
  std::size_t bytes = 0;  ///< Of one message, item or block.
  std::string detail;     ///< What else is set, such as "F=5"; may be empty.
  std::vector<Method> methods;
  /// Each turn runs the method once before the clock: methods that share buffers would find them in the cache.
  bool warm_buffers = false;
};

struct Row {
  std::string pattern;
  std::size_t bytes = 0;
  std::string detail;
  std::string method;
  double median_s = 0;  ///< Of one operation; the largest of the ranks in each repetition.
  double best_s = 0;
  double low_s = 0;  ///< 95 % of the repetitions' medians lie between (bootstrap).
  double high_s = 0;
};

struct Repetitions {
  int timed = 15;
  int warmup = 2;
};

/// Collective.
std::vector<Row> measure(const Group& group, const Repetitions& repetitions);

/// Zeroed memory that starts on a large page, so that all methods copy between places that are alike.
class Memory {
 public:
  explicit Memory(std::size_t bytes);
  std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  std::byte& operator[](std::size_t i) const { return bytes_[i]; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::size_t size_;
  std::unique_ptr<std::byte[], Free> bytes_;
};

constexpr std::size_t largest_block = std::size_t{1} << 20;

/// What is sent and where it arrives: one pair for all methods, since the physical pages that a pair got decide how well
/// a block fits the caches (with a pair for each side a put over MPI of 1 MiB had 0.87 of MPI_Send's speed, with one 0.95).
struct Blocks {
  Memory out{4 * largest_block};
  Memory in{4 * largest_block};
};

/// Seconds of one of that many operations that work() does; 0 on ranks that do not count.
double time_work(bool counts, double operations, const std::function<void()>& work);

}  // namespace nuice::am_bench
