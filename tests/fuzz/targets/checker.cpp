// SPDX-License-Identifier: BSD-3-Clause
// The checker against a judge that follows every byte: the bytes draw a
// matrix and a schedule, right or wrong.
#include "driver/target.hpp"
#include "support/any_schedule.hpp"
#include "support/oracle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  const test::AnyCase drawn = test::any_case({data, size});
  const bool accepted = !check(drawn.matrix, drawn.schedule, drawn.guarantees);
  fuzz::require(accepted == test::is_right(drawn.matrix, drawn.schedule, drawn.guarantees),
                accepted ? "the checker accepts what is wrong" : "the checker refuses what is right");
  return 0;
}
