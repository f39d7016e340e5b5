// SPDX-License-Identifier: BSD-3-Clause
// Around a call of the program, in a frame that exceptions and cancelled threads may leave at any time.
#pragma once

#include "run/mpi.hpp"

namespace nuice::run {

/// Where a Fortran program has called: its return address, while one of Fortran's functions is in MPI.
class FortranSite {
 public:
  explicit FortranSite(void* from) {
    if (is_outermost_) at_ = from;
  }
  FortranSite(const FortranSite&) = delete;
  FortranSite& operator=(const FortranSite&) = delete;
  ~FortranSite() {
    if (is_outermost_) at_ = nullptr;
  }
  static void* at() { return at_; }

 private:
  static thread_local inline void* at_ = nullptr;
  bool is_outermost_ = at_ == nullptr;
};

/// Inside another call, when MPI, a tool or an error handler calls, nothing is recorded.
class Watch {
 public:
  /// from: the return address. is_profiling: of a PMPI function.
  Watch(void* from, bool is_profiling);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  /// Not one that is made inside another.
  bool is_outermost() const { return is_outermost_; }
  bool is_on() const { return is_on_; }
  /// After a call that has given this code: whether it is to be recorded. The first time its end is taken.
  bool records(int code);
  /// Whether the call is recorded whatever it gave.
  bool ended();
  double seconds() const { return seconds_; }
  void* from() const { return from_; }
  /// The number of the last operation that was started before this call.
  std::int64_t begun_after() const { return begun_after_; }

 private:
  void* from_;
  bool is_outermost_;
  bool is_on_;
  double begin_s_ = 0;
  double seconds_ = -1;
  std::int64_t begun_after_ = 0;
};

}  // namespace nuice::run
