// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite between MPI ranks, on every transport of this build, and special features of
// connect().
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "am/conformance.hpp"
#include "nuice/am/coalescer.hpp"
#include "nuice/am/host_relay.hpp"
#include "nuice/am/loopback.hpp"
#include "nuice/am/progress.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/am.hpp"

namespace nuice::test {
namespace {

class Conformance : public testing::TestWithParam<std::tuple<std::string, ConformanceCase>> {};

TEST_P(Conformance, Conforms) {
  const auto& [name, test] = GetParam();
  const bool chaos = name.ends_with(" chaos");
  const std::string transport = name.substr(0, name.find(' '));
  const auto make = [&]() -> std::unique_ptr<am::Transport> {
    // Small rings and few credits fill up sooner.
    auto made =
        am::mpi::connect(MPI_COMM_WORLD, {.transport = transport,
                                          .max_message_bytes = chaos ? std::size_t{1000} : std::size_t{8000},
                                          .credits = chaos ? 4 : 64,
                                          .receives = chaos ? 2 : 16});
    return chaos ? am::with_chaos(std::move(made), {.seed = 3}) : std::move(made);
  };
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test.run(make, std::max(1, 8 / size));
}

std::vector<std::string> names() {
  std::vector<std::string> all = am::mpi::transports();
  all.emplace_back("mpi chaos");
  return all;
}

std::string name_of(const testing::TestParamInfo<Conformance::ParamType>& param) {
  std::string name = std::get<0>(param.param) + "_" + std::get<1>(param.param).name;
  std::ranges::replace_if(name, [](char c) { return c == ' ' || c == '+'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Conformance,
                         testing::Combine(testing::ValuesIn(names()),
                                          testing::ValuesIn(conformance_cases().begin(),
                                                            conformance_cases().end())),
                         name_of);

// Longer than what UCX and MPI send in one piece.
TEST(LongMessages, MayBeOverwrittenWhenTheyAreSent) {
  const auto all = conformance_cases();
  const auto found = std::ranges::find(all, std::string("ABufferIsFreeAfterItsSend"), &ConformanceCase::name);
  ASSERT_NE(found, all.end());
  for (const std::string& transport : am::mpi::transports())
    found->run(
        [&] {
          return am::mpi::connect(MPI_COMM_WORLD, {.transport = transport, .max_message_bytes = 100'000});
        },
        1);
}

TEST(SharedMemory, BulkPutsGoByTheOtherTransportWhereTheyCannotBeCopied) {
  for (const ConformanceCase& test : conformance_cases())
    if (const std::string_view name = test.name;
        name == "PortsAreReArmed" || name == "LateAndLargePutsAreErrors")
      test.run([] { return am::mpi::connect(MPI_COMM_WORLD, {.transport = "shm", .copy_blocks = false}); },
               1);
}

ErrorCode code_of(MPI_Comm comm, const am::mpi::Options& options) {
  try {
    am::mpi::connect(comm, options);
  } catch (const Error& error) {
    return error.code();
  }
  return {};
}

TEST(Connect, RefusesBadOptionsOnAllRanks) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(code_of(MPI_COMM_WORLD, {.transport = "pigeon"}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(MPI_COMM_WORLD, {.max_message_bytes = 3}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(MPI_COMM_WORLD, {.credits = 1000}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(MPI_COMM_WORLD, {.receives = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(MPI_COMM_WORLD, {.ring_bytes = 5000}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(MPI_COMM_NULL, {}), ErrorCode::invalid_argument);
  if (size == 1) return;
  EXPECT_EQ(code_of(MPI_COMM_WORLD, {.receives = rank == size - 1 ? 0 : 4}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(MPI_COMM_WORLD, {.receives = 4 + rank}), ErrorCode::mismatch);
  EXPECT_EQ(code_of(MPI_COMM_WORLD, {.copy_blocks = rank == 0}), ErrorCode::mismatch);
}

struct Told {
  std::uint64_t value;
};

TEST(InterruptsBetweenProcesses, AComputingRankAnswers) {
  am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD, {.transport = "shm"}));
  volatile std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  const auto answer = ep.on<Told>("answer", [&](am::Context&, const Told&) { ++answered; });
  const auto ask = ep.on<Told>("ask", [&](am::Context& c, const Told& w) {
    asked = asked + 1;
    c.reply(answer, w);
  });
  ep.seal();
  constexpr std::uint64_t count = 50;
  const Rank last = ep.num_ranks() - 1;
  if (ep.rank() != last) {
    for (std::uint64_t i = 1; i <= count; ++i) {
      ep.send(last, ask, Told{i});
      ep.poll_until([&] { return answered == i; });
    }
  } else {
    const am::Interruptible interrupts(ep);
    const double begin_s = MPI_Wtime();
    while (asked < count * static_cast<std::uint64_t>(last) && MPI_Wtime() < begin_s + 20) {
    }
    EXPECT_EQ(asked, count * static_cast<std::uint64_t>(last));
  }
  ep.quiesce();
}

TEST(InterruptsBetweenProcesses, AreRefusedByMpi) {
  am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD, {.transport = "mpi"}));
  EXPECT_THROW(am::Interruptible interrupts(ep), Error);
  EXPECT_THROW(am::ProgressThread thread(ep), Error);  // MPI_Init gives MPI_THREAD_SINGLE
}

TEST(HostRelay, OfAnotherEndpointIsRefused) {
  am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD));
  am::Endpoint other(am::mpi::connect(MPI_COMM_WORLD));
  const auto tell = ep.on<Told>("tell", [](am::Context&, const Told&) {});
  const am::HostRelay relay(other, parse_hosts("2", ep.num_ranks()));
  ep.seal();
  other.seal();
  try {
    const am::Coalescer<Told> items(ep, tell, {.relay = &relay});
    ADD_FAILURE() << "was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string_view(error.what()).find("another endpoint"), std::string_view::npos);
  }
  ep.quiesce();
  other.quiesce();
}

TEST(Connect, BestUsesSharedMemoryWhereItCan) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(am::mpi::connect(MPI_COMM_WORLD)->name(), size > 1 ? "shm" : "mpi");
}

}  // namespace
}  // namespace nuice::test
