// SPDX-License-Identifier: BSD-3-Clause
#include "run/watch.hpp"

#include <chrono>

#include "run/recorder.hpp"

namespace nuice::run {
namespace {

thread_local int depth = 0;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Watch::Watch(void* from, bool is_profiling)
    : from_(FortranSite::at() != nullptr ? FortranSite::at() : from),
      is_outermost_(depth++ == 0),
      is_on_(is_outermost_ && recorder().is_on()) {
  if (!is_on_) return;
  if (is_profiling && FortranSite::at() == nullptr && is_own_call(from)) {
    is_on_ = false;
    return;
  }
  begun_after_ = recorder().num_started();
  begin_s_ = now_s();
}

Watch::~Watch() { --depth; }

bool Watch::ended() {
  if (is_on_ && seconds_ < 0) seconds_ = now_s() - begin_s_;
  return is_on_;
}

bool Watch::records(int code) { return ended() && code == MPI_SUCCESS; }

}  // namespace nuice::run
