// SPDX-License-Identifier: BSD-3-Clause
// The scheduler "auto": every rank and every run choose alike, and what is chosen delivers.
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

namespace fs = std::filesystem;
using test::expect_same_error;
using test::world_rank;
using test::world_size;

CommMatrix some_matrix(std::uint64_t seed = 3, Bytes unit_bytes = 700) {
  return random_density(world_size(), 0.6, {.unit_bytes = unit_bytes, .max_units = 9}, seed);
}

mpi::PlanOptions automatic(mpi::PlanOptions options = {}) {
  options.scheduler = "auto";
  return options;
}

mpi::Plan plan_for(const CommMatrix& matrix, const mpi::PlanOptions& options) {
  return mpi::Plan(MPI_COMM_WORLD, test::row_of(matrix, world_rank()), options);
}

void expect_delivers(mpi::Plan& plan) {
  test::BoundPlan bound(plan);
  bound.exchange_once(1);
}

void expect_equal_on_all_ranks(const std::string& text) {
  EXPECT_EQ(text, mpi::text_of_rank_0(MPI_COMM_WORLD, text));
}

/// A folder that all ranks name alike and rank 0 makes and removes.
class Folder {
 public:
  Folder()
      : path_(mpi::text_of_rank_0(MPI_COMM_WORLD,
                                  testing::TempDir() + "nuice_auto_" + std::to_string(getpid()))) {
    if (world_rank() == 0) fs::create_directories(path_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Folder() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) fs::remove_all(path_);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    if (world_rank() == 0) std::ofstream(file(name)) << text;
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  std::string path_;
};

/// Named or not: what it predicts of executors is not believed, and exchanges try methods.
TEST(Auto, AMachineThatIsOffInItsOwnCheckChoosesNoExecutor) {
  if (world_size() < 3) GTEST_SKIP() << "needs two hosts";
  const Folder folder;
  const std::string file = folder.file("machine.toml");
  for (const double worst : {1.2, 4.0}) {
    Machine machine = find_machine("ethernet-10g");
    machine.worst_check = worst;
    folder.write("machine.toml", machine_text(machine));
    mpi::PlanOptions options = automatic();
    options.hosts = "2";
    options.automatic.machine = file;
    mpi::Plan plan =
        plan_for(random_density(world_size(), 1.0, {.unit_bytes = 9'000, .max_units = 1}, 1), options);
    test::BoundPlan bound(plan);
    const bool is_believed = worst < 1.5;
    EXPECT_EQ(bound.exchange.info().methods.empty(), is_believed);
    EXPECT_EQ(plan.advice()->sentence.find("times off in its own check") == std::string::npos, is_believed);
    if (!is_believed) {
      EXPECT_EQ(plan.info().executor, "async");
    }
    expect_delivers(plan);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Auto, EveryRankAndEveryRunChoosesAlike) {
  for (const char* const machine : {"ethernet-10g", "fattree-ib", "cm5-32", "shared-memory"}) {
    for (const std::uint64_t reuse : {1, 10'000}) {
      for (const Bytes unit : {8, 20'000}) {
        const CommMatrix matrix = some_matrix(reuse + unit, unit);
        const auto options = automatic({.seed = 4, .automatic = {.reuse = reuse, .machine = machine}});
        mpi::Plan plan = plan_for(matrix, options);
        ASSERT_NE(plan.advice(), nullptr);
        const std::string json = to_json(*plan.advice());
        expect_equal_on_all_ranks(json);
        EXPECT_EQ(json, to_json(*plan_for(matrix, options).advice())) << "a second run";
        const Candidate& choice = plan.advice()->choice();
        EXPECT_EQ(plan.info().scheduler, choice.scheduler);
        EXPECT_EQ(plan.info().executor, choice.executor);
        EXPECT_EQ(plan.info().num_phases, matrix.num_messages() == 0 ? 0 : plan.table().num_phases);
        EXPECT_NE(plan.advice()->sentence.find("The machine is " + std::string(machine)), std::string::npos);
        expect_delivers(plan);
      }
    }
  }
}

TEST(Auto, ChoosesWhatAdviseChooses) {
  const CommMatrix matrix = some_matrix();
  const Machine machine = find_machine("ethernet-10g");
  const Advice advice = advise(matrix, machine, {.reuse = 50, .candidates = mpi_candidates(machine)});
  const mpi::Plan plan = plan_for(matrix, automatic({.automatic = {.reuse = 50, .machine = "ethernet-10g"}}));
  EXPECT_EQ(plan.advice()->choice().name(), advice.choice().name());
  EXPECT_EQ(plan.advice()->choice().exchange_s, advice.choice().exchange_s);
  EXPECT_EQ(plan.advice()->schedule, nullptr) << "a plan keeps its own rank's messages only";
  EXPECT_GT(plan.info().choose_s, 0);
  EXPECT_NE(plan_for(matrix, {}).advice(), nullptr) << "auto is the default";
  const mpi::Plan named = plan_for(matrix, {.scheduler = "rs_n"});
  EXPECT_EQ(named.advice(), nullptr);
  EXPECT_EQ(named.info().choose_s, 0);
  EXPECT_EQ(named.info().executor, "phased");
}

/// On hosts without a description exchanges try methods; with no effort they do not.
TEST(Auto, EffortSaysWhatIsMeasured) {
  const CommMatrix matrix = random_density(world_size(), 1.0, {.unit_bytes = 9'000, .max_units = 1}, 1);
  for (const auto effort : {mpi::Effort::estimate, mpi::Effort::learn}) {
    mpi::Plan plan = plan_for(matrix, {.effort = effort, .hosts = "2"});
    test::BoundPlan bound(plan);
    bound.exchange_once();
    const bool tries = bound.exchange.info().methods.size() > 1;
    EXPECT_EQ(tries, effort == mpi::Effort::learn && world_size() > 2);
  }
}

TEST(Auto, KeepsToTheExecutorThatIsAskedFor) {
  const CommMatrix matrix = some_matrix();
  for (const char* const name : {"async", "phased", "depend"}) {
    const std::string executor = name;
    mpi::Plan plan =
        plan_for(matrix, automatic({.executor = executor, .automatic = {.machine = "ethernet-1g"}}));
    EXPECT_EQ(plan.info().executor, executor);
    for (const Candidate& candidate : plan.advice()->candidates) EXPECT_EQ(candidate.executor, executor);
    expect_delivers(plan);
  }
}

TEST(Auto, LinkFreeSchedulersGetTheMachinesNetwork) {
  const CommMatrix matrix = some_matrix();
  mpi::Plan plan =
      plan_for(matrix, automatic({.topology = "torus:4x2", .automatic = {.machine = "ethernet-10g"}}));
  EXPECT_EQ(plan.advice()->topology, "torus:4x2");
  const auto is_link_free = [](const Candidate& c) { return c.scheduler == "link_coloring" && c.applicable; };
  EXPECT_TRUE(std::ranges::any_of(plan.advice()->candidates, is_link_free));
  expect_delivers(plan);
}

TEST(Auto, OnlyRankZerosFilesAndEnvironmentCount) {
  const Folder folder;
  Machine machine = find_machine("ethernet-10g");
  machine.topology = make_topology("crossbar:1");  // grows
  machine.latency_s = 0.125;
  folder.write("mine.toml", machine_text(machine));
  const CommMatrix matrix = some_matrix();
  setenv("NUICE_MACHINE", world_rank() == 0 ? folder.file("mine.toml").c_str() : "no-such-machine", 1);
  mpi::PlanOptions options{.scheduler = "auto"};
  const mpi::Plan plan = plan_for(matrix, options);
  unsetenv("NUICE_MACHINE");
  EXPECT_EQ(plan.advice()->machine, folder.file("mine.toml"));
  EXPECT_EQ(plan.advice()->choice().exchange_s > 0.1, matrix.num_messages() > 0);
  expect_equal_on_all_ranks(to_json(*plan.advice()));
}

TEST(Auto, SaysWhenTheMachineIsAGuess) {
  const Folder folder;
  setenv("XDG_CONFIG_HOME", folder.file("config").c_str(), 1);
  const mpi::Plan plan = plan_for(some_matrix(), automatic());
  EXPECT_EQ(plan.advice()->machine, "shared-memory") << "all ranks of this test are on one host";
  EXPECT_NE(plan.advice()->sentence.find("No machine was named"), std::string::npos);
  if (world_rank() == 0) fs::create_directories(folder.file("config") + "/nuice");
  folder.write("config/nuice/shared-memory.toml", machine_text(find_machine("ethernet-1g")));
  const mpi::Plan calibrated = plan_for(some_matrix(), automatic());
  EXPECT_EQ(calibrated.advice()->machine, folder.file("config/nuice/shared-memory.toml"));
  unsetenv("XDG_CONFIG_HOME");
}

// ---- errors

TEST(Auto, ErrorsAgree) {
  const CommMatrix matrix = some_matrix();
  const auto plan = [&](const mpi::PlanOptions& options) { (void)plan_for(matrix, automatic(options)); };
  expect_same_error(ErrorCode::invalid_argument, "unknown machine \"cm7\"",
                    [&] { plan({.automatic = {.machine = "cm7"}}); });
  expect_same_error(ErrorCode::io, "no-such.toml",
                    [&] { plan({.automatic = {.machine = "/no-such.toml"}}); });
  expect_same_error(ErrorCode::invalid_argument, "option auto.reuse is 0, below 1",
                    [&] { plan({.automatic = {.reuse = 0}}); });
  const Folder folder;
  folder.write("bad.toml", "topology = \"crossbar:9\"\n[port]\nbandwidth = \"0 MB/s\"\n");
  expect_same_error(ErrorCode::parse, "bad.toml:3",
                    [&] { plan({.automatic = {.machine = folder.file("bad.toml")}}); });
  if (world_size() > 1) {
    folder.write("small.toml", "topology = \"mesh:1x2\"\n[port]\nbandwidth = \"1 MB/s\"\n");
    if (world_size() > 2)
      expect_same_error(ErrorCode::mismatch, "small.toml",
                        [&] { plan({.automatic = {.machine = folder.file("small.toml")}}); });
    const std::uint64_t mine = world_rank() == 0 ? 5 : 6;
    expect_same_error(ErrorCode::mismatch, "option auto.reuse differs: 5 on rank 0, 6 on rank 1",
                      [&] { plan({.automatic = {.reuse = mine}}); });
    expect_same_error(ErrorCode::mismatch, "option auto.machine differs",
                      [&] { plan({.automatic = {.machine = world_rank() == 0 ? "cm5-32" : "delta"}}); });
  }
  EXPECT_NO_THROW(plan({.automatic = {.machine = "cm5-32"}})) << "the communicator stays usable";
}

}  // namespace
}  // namespace nuice
