// SPDX-License-Identifier: BSD-3-Clause
// The checker against a judge that follows every byte, on schedules of every kind, right and wrong.
#include <gtest/gtest.h>

#include <array>

#include "nuice/core/random.hpp"
#include "support/any_schedule.hpp"
#include "support/matrices.hpp"
#include "support/oracle.hpp"
#include "support/sanitized.hpp"

namespace nuice {
namespace {

TEST(CheckFuzz, AgreesWithAJudgeThatFollowsEveryByte) {
  constexpr int num_cases = test::is_sanitized ? 50'000 : 400'000;  // fuzz_checker goes on there
  Random random(17);
  int num_right = 0;
  int num_forwarding = 0;
  for (int i = 0; i < num_cases; ++i) {
    std::array<std::uint8_t, 160> bytes{};
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    const test::AnyCase drawn = test::any_case(bytes);
    const auto violation = check(drawn.matrix, drawn.schedule, drawn.guarantees);
    const bool right = test::is_right(drawn.matrix, drawn.schedule, drawn.guarantees);
    ASSERT_EQ(!violation, right) << "case " << i << ": " << (violation ? violation->text : "accepted");
    num_right += right ? 1 : 0;
    num_forwarding += right && check(drawn.matrix, drawn.schedule, direct) ? 1 : 0;
  }
  // Both verdicts are common, and right ones that forward are too.
  EXPECT_GT(num_right, num_cases / 10);
  EXPECT_LT(num_right, num_cases * 9 / 10);
  EXPECT_GT(num_forwarding, num_cases / 100);
}

// Once accepted: what rank 1 receives whole in phase 0 it cannot send on in phase 0.
TEST(CheckFuzz, AMessageThatArrivesWholeIsNotForwardedInTheSamePhase) {
  const CommMatrix matrix = test::matrix_of(3, {{0, 1, 10}});
  const Piece whole{0, 0, 10};
  Schedule schedule(3);
  schedule.add(0, 1, {&whole, 1});
  schedule.add(1, 2, {&whole, 1});
  schedule.begin_phase();
  schedule.add(2, 1, {&whole, 1});
  const auto violation = check(matrix, schedule, one_port);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->kind, ViolationKind::not_held);
  EXPECT_EQ(violation->phase, 0U);
  EXPECT_EQ(violation->text,
            "phase 0: transfer rank 1 -> rank 2: message rank 0 -> rank 1: bytes [0, 10) reach rank 1 in the "
            "same phase");
}

}  // namespace
}  // namespace nuice
