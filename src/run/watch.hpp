// SPDX-License-Identifier: BSD-3-Clause
// Observes a call of the program. Exceptions and cancelled threads may leave its frame at any time.
#pragma once

#include "run/mpi.hpp"

namespace nuice::run {

/// The return address of a Fortran program's call. It is known while one of Fortran's functions is active in
/// MPI.
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

/// Observes one call. Calls that MPI, tools or error handlers make inside another call are not recorded.
class Watch {
 public:
  /// from: the return address. is_profiling: for a PMPI function.
  Watch(void* from, bool is_profiling);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  /// Whether this watch is not inside another.
  bool is_outermost() const { return is_outermost_; }
  bool is_on() const { return is_on_; }
  /// Whether to record a call that returned this code. The first call of this function also reads the end
  /// time.
  bool records(int code);
  /// Whether the call is recorded, whatever it returned.
  bool ended();
  double seconds() const { return seconds_; }
  void* from() const { return from_; }
  /// Returns the number of the last operation that was started before this call.
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
