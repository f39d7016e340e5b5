// SPDX-License-Identifier: BSD-3-Clause
// The contents of the planner's handles.
#pragma once

#include <string>

#include "nuice/core/text_io.hpp"
#include "nuice/nuice.h"
#include "nuice/plan/advise.hpp"

struct nuice_matrix {
  nuice::CommMatrix matrix;
};

struct nuice_schedule {
  nuice::ScheduleRecord record;
  nuice::CommMatrix matrix;  // a copy, so that the schedule may outlive the caller's matrix
};

struct nuice_advice {
  nuice::Advice advice;
  mutable std::string text;  // the string returned last
};
