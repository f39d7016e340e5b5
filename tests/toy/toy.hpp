// SPDX-License-Identifier: BSD-3-Clause
// A scheduler and an executor that the library does not know: each is one file here, and a row in it.
#pragma once

#include "nuice/core/executor.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::toy {

extern const Scheduler shift;
extern const Executor patient;

}  // namespace nuice::toy
