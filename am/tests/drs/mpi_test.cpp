// SPDX-License-Identifier: BSD-3-Clause
// DRS_N and Generate_Recv between MPI ranks: both locks, every transport, all methods to learn the receive
// list.
#include "drs/drs_support.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/mpi/discover.hpp"
#include "nuice/mpi/drs.hpp"

namespace nuice::test {
namespace {

namespace world_of = drs::mpi;  // World is also the name of the serial executor's in payload.hpp

struct Way {
  std::string name;
  std::string transport;
  drs::Options options;
  friend void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
};

std::vector<Way> ways() {
  std::vector<Way> all = {{"rma", "mpi", {.lock = drs::Lock::rma}},
                          {"rma_delayed", "mpi", {.lock = drs::Lock::rma, .delay_us = 20, .seed = 1}}};
  for (const std::string& transport : am::mpi::transports()) {
    std::string name = transport;
    std::ranges::replace(name, '+', '_');
    all.push_back({name + "_refuse", transport, {}});
    if (transport == "mpi") all.push_back({name + "_delayed", transport, {.delay_us = 20}});
    if (transport == "mpi" || transport == "shm")
      all.push_back({name + "_list", transport, {.when_busy = drs::WhenBusy::list}});
    all.push_back({name + "_early", transport, {.when_busy = drs::WhenBusy::list, .early_bytes = 20'000}});
  }
  return all;
}

Bind binder(world_of::World& world) {
  return [&world](auto destinations, auto sources, auto send, auto receive, const drs::Options& options) {
    return world.bind(destinations, sources, send, receive, options);
  };
}

class DrsOnMpi : public testing::TestWithParam<Way> {
 protected:
  world_of::World world{MPI_COMM_WORLD, {.transport = GetParam().transport}};
};

TEST_P(DrsOnMpi, DoesWhatTheSerialExecutorDoes) {
  expect_as_serially(world_rank(), world_size(), binder(world), GetParam().options);
}

TEST_P(DrsOnMpi, CarriesChangingDataManyTimes) {
  expect_many_rounds(world_rank(), world_size(), binder(world), GetParam().options, 30, false);
}

TEST_P(DrsOnMpi, IsCompleteByTestingOnly) {
  expect_many_rounds(world_rank(), world_size(), binder(world), GetParam().options, 3, true);
}

TEST_P(DrsOnMpi, RunsSeveralExchangesTogether) {
  expect_overlapping(world_rank(), world_size(), binder(world), GetParam().options);
}

INSTANTIATE_TEST_SUITE_P(Mpi, DrsOnMpi, testing::ValuesIn(ways()),
                         [](const auto& suite) { return suite.param.name; });

TEST(DrsReceiveLists, AreTheColumnInEveryWay) {
  world_of::World world(MPI_COMM_WORLD);
  for (int round = 0; round < 3; ++round)
    for (const auto& [name, matrix] : drs_matrices(world_size()))
      for (const std::string_view way : nuice::mpi::discovery_ways())
        EXPECT_EQ(world.sources(drs_row(matrix, world_rank()), way), drs_column(matrix, world_rank()))
            << name << ", " << way;
}

TEST(DrsReceiveLists, FailOnAllRanksInEveryWay) {
  world_of::World world(MPI_COMM_WORLD);
  const Rank last = world_size() - 1;
  const std::vector<Partner> bad = {{world_size(), 5}};
  const std::vector<Partner> mine = world_rank() == last ? bad : std::vector<Partner>{};
  for (const std::string_view way : nuice::mpi::discovery_ways())
    expect_same_error(ErrorCode::invalid_argument,
                      "rank " + std::to_string(last) + " -> rank " + std::to_string(world_size()),
                      [&] { world.sources(mine, way); });
  expect_same_error(ErrorCode::invalid_argument, "unknown discovery method \"ask\"; known: gather, count",
                    [&] { world.sources({}, "ask"); });
}

TEST(DrsErrorsOnMpi, AreThoseOfAllRanks) {
  world_of::World world(MPI_COMM_WORLD);
  const auto bind = [&](const drs::Options& options) { world.bind({}, {}, {}, {}, options); };
  expect_same_error(ErrorCode::not_applicable, "cannot keep a list",
                    [&] { bind({.lock = drs::Lock::rma, .when_busy = drs::WhenBusy::list}); });
  expect_same_error(ErrorCode::invalid_argument, "early_bytes", [&] { bind({.early_bytes = -1}); });
  if (world_size() > 1)
    expect_same_error(ErrorCode::mismatch, "Options differ: those of rank 1 are not those of rank 0",
                      [&] { bind({.lock = world_rank() == 1 ? drs::Lock::rma : drs::Lock::message}); });
  for (const drs::Lock lock : {drs::Lock::message, drs::Lock::rma}) {
    const std::vector<Partner> myself = {{world_rank(), 8}};
    expect_same_error(ErrorCode::mismatch, "the receiver expects 0 bytes, the sender has 8", [&] {
      std::byte memory[8];
      world.bind(world_rank() == 0 ? myself : std::vector<Partner>{}, {},
                 world_rank() == 0 ? std::vector<SendBuffer>{{memory, 8}} : std::vector<SendBuffer>{}, {},
                 {.lock = lock});
    });
  }
  world.free();
  world.free();
  expect_error(ErrorCode::state, "freed", [&] { world.sources({}); });
  expect_same_error(ErrorCode::invalid_argument, "MPI_COMM_NULL", [] { world_of::World(MPI_COMM_NULL); });
}

TEST(DrsWorld, MayBeFreedBeforeItsExchanges) {
  const CommMatrix matrix = drs_matrices(world_size()).at(5).matrix;
  for (const drs::Lock lock : {drs::Lock::message, drs::Lock::rma}) {
    world_of::World world(MPI_COMM_WORLD);
    BoundDrs bound(matrix, world_rank(), binder(world), {.lock = lock});
    world.free();
    bound.exchange.start();
    bound.exchange.wait();
    bound.expect_received(0);
  }
}

}  // namespace
}  // namespace nuice::test
