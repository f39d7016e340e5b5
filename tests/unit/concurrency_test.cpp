// SPDX-License-Identifier: BSD-3-Clause
// Planning in several threads at once. A program of its own: under the
// thread sanitizer nothing else is built.
#include <gtest/gtest.h>

#include <thread>

#include "nuice/nuice.hpp"
#include "support/topologies.hpp"

namespace nuice {
namespace {

class PlansMadeAtTheSameTime : public testing::TestWithParam<std::string_view> {};

TEST_P(PlansMadeAtTheSameTime, Agree) {
  const Scheduler& scheduler = find_scheduler(GetParam());
  const CommMatrix matrix = random_density(48, 0.4, {.unit_bytes = 16, .max_units = 9}, 5);
  const Problem problem = {
      .matrix = matrix, .seed = 7, .topology = test::network_for(scheduler, matrix.num_ranks())};
  const Schedule expected = scheduler.make(problem);
  std::vector<Schedule> made(4);
  std::vector<std::thread> threads;
  for (Schedule& schedule : made) {
    threads.emplace_back([&schedule, &problem, &scheduler] { schedule = scheduler.make(problem); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Schedule& schedule : made) EXPECT_EQ(schedule, expected);
}

INSTANTIATE_TEST_SUITE_P(Table, PlansMadeAtTheSameTime, testing::ValuesIn(test::scheduler_names()),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace nuice
