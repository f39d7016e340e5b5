// SPDX-License-Identifier: BSD-3-Clause
// The same rows from a shared object.
#include <gtest/gtest.h>

#include "nuice/nuice.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

TEST(LoadRows, AddsThoseOfASharedObject) {
  load_rows(TOY_ROWS);
  EXPECT_EQ(find_executor("patient").pace, Pace::at_once);
  const CommMatrix matrix = random_regular(8, 3, {64, 1}, 1);
  const Schedule schedule = make_schedule(matrix, "shift");
  EXPECT_FALSE(check(matrix, schedule, find_scheduler("shift").guarantees));
  EXPECT_ERROR(load_rows(TOY_ROWS), ErrorCode::invalid_argument, {TOY_ROWS, "\"shift\" already"});
}

TEST(LoadRows, SaysWhatIsWrongWithTheFile) {
  EXPECT_ERROR(load_rows("/nowhere/rows.so"), ErrorCode::io, {"cannot be loaded", "/nowhere/rows.so"});
  EXPECT_ERROR(load_rows("libm.so.6"), ErrorCode::invalid_argument,
               {"libm.so.6: exports no function nuice_add_rows"});
}

}  // namespace
}  // namespace nuice
