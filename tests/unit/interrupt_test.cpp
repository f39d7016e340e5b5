// SPDX-License-Identifier: BSD-3-Clause
// What may take long asks whether it is to end, and ends by what the answer throws.
#include "nuice/core/interrupt.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "nuice/nuice.hpp"

namespace nuice {
namespace {

struct Stopped {};

/// How often `call` asks; then whether it ends by the exception at the last of these.
template <typename Call>
int times_asked(Call call) {
  int asked = 0;
  {
    const InterruptCheck check([&asked] { ++asked; });
    call();
  }
  if (asked == 0) return 0;
  int left = asked;
  const InterruptCheck check([&left] {
    if (--left == 0) throw Stopped();
  });
  EXPECT_THROW(call(), Stopped);
  return asked;
}

TEST(Interrupt, SchedulersAsk) {
  const CommMatrix matrix = random_regular(64, 20, {100, 32}, 1);
  // One pass over the messages each: some nanoseconds a message.
  const std::vector<std::string_view> short_ones{"ac", "lp", "lex", "pex", "bex", "ls", "ps", "bs"};
  for (const Scheduler& row : schedulers()) {
    if (std::ranges::count(short_ones, row.name) > 0) continue;
    const Topology* const network = test::network_for(row, 64);
    EXPECT_GT(times_asked([&] { make_schedule({.matrix = matrix, .topology = network}, row.name); }), 0)
        << row.name;
  }
}

TEST(Interrupt, ChecksAndReadersAsk) {
  const CommMatrix matrix = random_regular(64, 20, {100, 32}, 1);
  const Schedule schedule = make_schedule(matrix, "rs_n");
  EXPECT_GT(times_asked([&] { check(matrix, schedule, direct); }), 1000);
  std::stringstream text;
  write_matrix_market(text, matrix);
  EXPECT_GT(times_asked([&] {
              std::istringstream in(text.str());
              read_matrix_market(in, "m");
            }),
            1000);
}

TEST(Interrupt, TheInnermostIsAsked) {
  int outer = 0;
  int inner = 0;
  const InterruptCheck first([&] { ++outer; });
  {
    const InterruptCheck second([&] { ++inner; });
    check_interrupt();
  }
  check_interrupt();
  EXPECT_EQ(std::pair(outer, inner), std::pair(1, 1));
}

}  // namespace
}  // namespace nuice
