// SPDX-License-Identifier: BSD-3-Clause
// Options as text: PlanOptions::parse(), text(), and NUICE_OPTIONS of rank 0.
#include <cstdlib>

#include "mpi/mpi_support.hpp"
#include "nuice/core/error.hpp"

namespace nuice {
namespace {

using mpi::PlanOptions;

void expect_refused(const std::string& why, const std::string& text) {
  test::expect_error(ErrorCode::parse, why, [&] { (void)PlanOptions::parse(text); });
}

TEST(OptionText, SetsWhatItNames) {
  const PlanOptions options = PlanOptions::parse(
      "scheduler=coloring executor=async\tdevice.chunk=64KiB depend.early=8000 auto.reuse=12\n"
      "watchdog=250ms check=false planning=distributed topology=\"file:my net.txt\" hosts=\"\" "
      "seed=18446744073709551615");
  EXPECT_EQ(options.scheduler, "coloring");
  EXPECT_EQ(options.executor, "async");
  EXPECT_EQ(options.device.chunk_bytes, 65536);
  EXPECT_EQ(options.depend.early_bytes, 8000);
  EXPECT_EQ(options.async.max_sends, mpi::AsyncOptions{}.max_sends);
  EXPECT_EQ(options.automatic.reuse, 12U);
  EXPECT_DOUBLE_EQ(options.watchdog_s, 0.25);
  EXPECT_FALSE(options.check);
  EXPECT_EQ(options.planning, mpi::Planning::distributed);
  EXPECT_EQ(options.topology, "file:my net.txt");
  EXPECT_EQ(options.seed, ~std::uint64_t{0});
}

TEST(OptionText, ComesOnTopOfWhatIsThere) {
  const PlanOptions options = PlanOptions::parse("seed=3", {.scheduler = "lp", .seed = 2});
  EXPECT_EQ(options.scheduler, "lp");
  EXPECT_EQ(options.seed, 3U);
  EXPECT_EQ(PlanOptions::parse("").text(), "");
}

TEST(OptionText, IsReadBackToTheSame) {
  const PlanOptions options{.scheduler = "link_coloring",
                            .executor = "async",
                            .phase_cost_bytes = max_bytes,
                            .topology = "file:a b",
                            .planning = mpi::Planning::distributed,
                            .watchdog_s = 0.1,
                            .async = {.max_sends = 7},
                            .automatic = {.reuse = 3}};
  const std::string text = options.text();
  EXPECT_EQ(PlanOptions::parse(text).text(), text);
  EXPECT_EQ(text,
            "scheduler=link_coloring executor=async phase_cost=4611686018427387904 topology=\"file:a b\" "
            "planning=distributed "
            "watchdog=0.1 async.max_sends=7 auto.reuse=3");
}

TEST(OptionText, EveryOptionHasANameAndASentence) {
  for (const mpi::PlanOptionName& option : mpi::plan_option_names()) {
    EXPECT_FALSE(option.summary.empty()) << option.name;
    expect_refused("", std::string(option.name));  // no value
  }
}

TEST(OptionText, SaysWhatIsWrong) {
  expect_refused("there is no option \"schedular\"; known: scheduler, executor, effort, seed",
                 "schedular=lp");
  expect_refused("\"scheduler\" has no value; write name=value", "scheduler = lp");
  expect_refused("option seed is a whole number, not \"-1\"", "seed=-1");
  expect_refused("option seed is a whole number, not \"18446744073709551616\"", "seed=18446744073709551616");
  expect_refused("option check is true or false, not \"yes\"", "check=yes");
  expect_refused("option effort is one of estimate, learn, not \"much\"", "effort=much");
  expect_refused("option planning is one of everywhere, distributed, not \"here\"", "planning=here");
  expect_refused("option device.chunk is wrong: no unit here is called 'KB/s'", "device.chunk=3KB/s");
  expect_refused("option device.chunk is a whole number of bytes, not \"0.3B\"", "device.chunk=0.3B");
  expect_refused("option watchdog is wrong", "watchdog=soon");
  expect_refused("the quote of topology does not end", "topology=\"a b");
}

/// Sets NUICE_OPTIONS, or another variable, on one rank.
class Environment {
 public:
  Environment(const char* text, Rank rank, const char* name = "NUICE_OPTIONS") : name_(name) {
    if (test::world_rank() == rank) setenv(name, text, 1);
  }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

std::vector<Partner> ring() { return {{(test::world_rank() + 1) % test::world_size(), 100}}; }

TEST(OptionsAtRunTime, OverrideThePlansOfAllRanks) {
  const Environment set("scheduler=coloring executor=pairwise", 0);
  mpi::Plan plan(MPI_COMM_WORLD, ring(), {.scheduler = "lp", .seed = 5});
  EXPECT_EQ(plan.info().scheduler, "coloring");
  EXPECT_EQ(plan.info().executor, "pairwise");
  EXPECT_EQ(plan.info().seed, 5U);
  EXPECT_EQ(plan.info().overridden, "scheduler=coloring executor=pairwise");
  mpi::Plan own(MPI_COMM_WORLD, ring(), {.scheduler = "lp", .environment = false});
  EXPECT_EQ(own.info().scheduler, "lp");
  EXPECT_EQ(own.info().overridden, "");
}

TEST(OptionsAtRunTime, OfOtherRanksCountForNothing) {
  if (test::world_size() < 2) return;
  const Environment set("scheduler=coloring", 1);
  EXPECT_EQ(mpi::Plan(MPI_COMM_WORLD, ring(), {.scheduler = "lp"}).info().scheduler, "lp");
}

TEST(OptionsAtRunTime, ThatAreWrongFailOnAllRanks) {
  {
    const Environment set("scheduler=lp windw=3", 0);
    test::expect_same_error(ErrorCode::parse, "NUICE_OPTIONS: there is no option \"windw\"",
                            [] { mpi::Plan(MPI_COMM_WORLD, ring()); });
  }
  {
    const Environment set("1", 0, "NUICE_TRACE");
    test::expect_same_error(ErrorCode::invalid_argument,
                            "option trace (NUICE_TRACE) names a folder and is not a switch: trace=1",
                            [] { mpi::Plan(MPI_COMM_WORLD, ring()); });
  }
  const Environment set("device.chunk=0", 0);
  test::expect_same_error(ErrorCode::invalid_argument, "option device.chunk is 0, below 16",
                          [] { mpi::Plan(MPI_COMM_WORLD, ring()); });
}

}  // namespace
}  // namespace nuice
