// SPDX-License-Identifier: BSD-3-Clause
// Timing: methods of a group run alternately, repetition by repetition, so that disturbances of the machine
// affect all of them equally. The result is the median over the repetitions.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nuice::am_bench {

/// A method to carry out the operation of a group.
struct Method {
  std::string name;  ///< "am:shm", "mpi:ring", ...
  /// Collective. Runs the operations once. Returns the seconds per operation on ranks that measure, 0 on
  /// others.
  std::function<double()> run;
};

/// Methods that are compared with each other.
struct Group {
  std::string pattern;    ///< "pingpong", "flood", ...
  std::size_t bytes = 0;  ///< Of one message, item or block.
  std::string detail;     ///< Other settings, such as "F=5"; may be empty.
  std::vector<Method> methods;
  /// Whether each repetition runs the method once before the clock starts. Otherwise a method that shares
  /// buffers with the previous method would find them in the cache.
  bool warm_buffers = false;
};

struct Row {
  std::string pattern;
  std::size_t bytes = 0;
  std::string detail;
  std::string method;
  double median_s = 0;  ///< Per operation; in each repetition the maximum over ranks.
  double best_s = 0;
  double low_s = 0;  ///< 95 % confidence interval of the median (bootstrap).
  double high_s = 0;
};

struct Repetitions {
  int timed = 15;
  int warmup = 2;
};

/// Collective.
std::vector<Row> measure(const Group& group, const Repetitions& repetitions);

/// Zeroed memory that starts on a large page, so that all methods copy between places with the same
/// alignment.
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

/// The source and destination that all methods share. The physical pages of a pair decide how well a block
/// fits into the caches. When every method had a pair of its own, a put of 1 MiB over MPI had 0.87 of
/// MPI_Send's speed; with a shared pair it has 0.95.
struct Blocks {
  Memory out{4 * largest_block};
  Memory in{4 * largest_block};
};

/// Returns the seconds per operation if work() does `operations` of them. Returns 0 on ranks that do not
/// measure.
double time_work(bool counts, double operations, const std::function<void()>& work);

}  // namespace nuice::am_bench
