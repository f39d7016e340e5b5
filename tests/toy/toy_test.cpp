// SPDX-License-Identifier: BSD-3-Clause
// Rows that a program adds are like those that are built in: the laws of unit/law_test.cpp, which is part of
// this program, the checker, the simulator and the adviser take them up.
#include "toy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nuice/nuice.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

// Before main: the laws are instantiated for the rows of the table as it is then.
const bool added = [] {
  add_scheduler(toy::shift);
  add_executor(toy::patient);
  return true;
}();

const CommMatrix& matrix() {
  static const CommMatrix same = random_density(8, 0.4, {1000, 8}, 1);
  return same;
}

TEST(Toy, StandsInTheTables) {
  ASSERT_TRUE(added);
  EXPECT_EQ(find_scheduler("shift").summary, toy::shift.summary);
  EXPECT_EQ(schedulers().back().name, "shift");
  EXPECT_EQ(executors().back().name, "patient");
  EXPECT_ERROR(add_scheduler(toy::shift), ErrorCode::invalid_argument, {"\"shift\" already"});
  Scheduler alias = toy::shift;
  alias.name = "toy_alias";
  alias.alias_of = "unknown_one";
  EXPECT_ERROR(add_scheduler(alias), ErrorCode::invalid_argument, {"unknown scheduler \"unknown_one\""});
}

TEST(Toy, ItsSchedulesAreChecked) {
  const Schedule schedule = make_schedule(matrix(), "shift");
  EXPECT_FALSE(check(matrix(), schedule, find_scheduler("shift").guarantees));
  EXPECT_TRUE(check(matrix(), schedule, fewest_phases));
}

TEST(Toy, IsSimulated) {
  const Machine machine = find_machine("ethernet-1g");
  const Schedule schedule = make_schedule(matrix(), "shift");
  const auto seconds = [&](const char* executor) {
    return simulate(matrix(), schedule, machine, {.executor = executor}).seconds;
  };
  EXPECT_EQ(seconds("patient"), seconds("async"));  // the same pace
  EXPECT_LT(seconds("patient"), seconds("phased"));
  EXPECT_ERROR(simulate(matrix(), schedule, machine, {.executor = "impatient"}), ErrorCode::invalid_argument,
               {"unknown executor", "patient"});
}

TEST(Toy, IsACandidate) {
  const Machine machine = find_machine("ethernet-1g");
  const std::vector<std::string> names = all_candidates(machine);
  const auto has = [&](std::string_view name) { return std::ranges::count(names, name) == 1; };
  EXPECT_TRUE(has("shift:phased"));
  EXPECT_TRUE(has("shift:patient"));
  EXPECT_TRUE(has("coloring_by_size:patient"));
  EXPECT_FALSE(has("rs_n:patient")) << "its row does not ask for that pace";
  const std::vector<std::string> on_mpi = mpi_candidates(machine);
  EXPECT_EQ(std::ranges::count(on_mpi, "shift:patient"), 0) << "patient is not on MPI";
  const Advice advice = advise(matrix(), machine, {.predict_by = Prediction::simulation});
  for (const char* const name : {"shift:phased", "shift:patient"}) {
    const auto found = std::ranges::find(advice.candidates, name, &Candidate::name);
    ASSERT_NE(found, advice.candidates.end()) << name;
    EXPECT_EQ(found->phases, make_schedule(matrix(), "shift").num_phases());
    EXPECT_GE(found->total_s, advice.choice().total_s);
  }
}

/// Where it is the only one that is asked for, it is the choice, and its schedule is made.
TEST(Toy, CanBeChosen) {
  const Machine machine = find_machine("ethernet-1g");
  const Advice advice = advise(matrix(), machine, {.candidates = {"shift:patient"}});
  EXPECT_EQ(advice.choice().name(), "shift:patient");
  EXPECT_EQ(advised_schedule(matrix(), machine, advice), make_schedule(matrix(), "shift"));
}

}  // namespace
}  // namespace nuice
