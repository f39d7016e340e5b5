// SPDX-License-Identifier: BSD-3-Clause
// Many exchanges with changing plans leave nothing behind: no memory, no requests, no communicators.
//
// NUICE_SOAK_ROUNDS: how many plans; 200 without it, 10,000 with ctest -C soak. That also runs what needs 5 GB of memory.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <numeric>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using mpi::Executor;

int rounds_wanted() {
  const char* text = std::getenv("NUICE_SOAK_ROUNDS");
  return text != nullptr ? std::atoi(text) : 200;
}
bool is_long() { return std::getenv("NUICE_SOAK_ROUNDS") != nullptr; }

Bytes resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  Bytes total = 0;
  Bytes resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

struct Kind {
  const char* scheduler;
  Executor executor;
  int max_sends_in_flight;
};
constexpr Kind kinds[] = {{"ac", Executor::async, 0},     {"ac", Executor::async, 2},
                          {"rs_nh", Executor::phased, 0}, {"coloring", Executor::barrier, 0},
                          {"rex", Executor::phased, 0},   {"coloring", Executor::credit, 0},
                          {"rs_nh", Executor::credit, 0}};

/// One plan with a matrix of its own, exchanged forwards and backwards, as a whole and message by message.
void one_round(unsigned round) {
  const Kind& kind = kinds[round % std::size(kinds)];
  const CommMatrix matrix =
      random_density(test::world_size(), 0.7, {.unit_bytes = 97, .max_units = 100}, round);
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
                 {.scheduler = kind.scheduler,
                  .executor = kind.executor,
                  .max_sends_in_flight = kind.max_sends_in_flight,
                  .watchdog_s = round % 4 == 1 ? 60.0 : 0.0});
  test::BoundPlan bound(plan);
  for (unsigned again = 0; again < 3; ++again) {
    bound.refill(round + again);
    bound.exchange.start();
    if (again == 0) bound.exchange.wait();
    if (again == 1) {
      while (bound.exchange.next()) {
      }
    }
    if (again == 2) {
      while (!bound.exchange.test()) {
      }
    }
    bound.expect_received(round + again);
  }
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> back_counts;
  for (const Partner& to : plan.destinations()) counts.push_back(to.bytes);
  for (const Partner& from : plan.sources()) back_counts.push_back(from.bytes);
  const auto floats = [](const std::vector<std::int64_t>& of) {
    return std::vector<float>(
        static_cast<std::size_t>(std::accumulate(of.begin(), of.end(), std::int64_t{1})));
  };
  std::vector<float> out = floats(counts);
  std::vector<float> in = floats(back_counts);
  const mpi::SendField send{in.data(), MPI_FLOAT, back_counts};
  const mpi::ReceiveField receive{out.data(), MPI_FLOAT, counts};
  auto reverse = plan.bind_fields_reverse({&send, 1}, {&receive, 1});
  plan.free();  // the exchanges go on without it
  reverse.start();
  reverse.wait();
}

TEST(Soak, ChangingPlansLeaveNothingBehind) {
  const int rounds = rounds_wanted();
  Bytes settled = 0;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    if (round == rounds / 2) settled = resident_bytes();  // pools of MPI and of malloc have grown by then
    one_round(static_cast<unsigned>(round));
  }
  const Bytes growth = resident_bytes() - settled;
  // A leaked plan or exchange keeps kilobytes, so half the rounds would keep more than this.
  [[maybe_unused]] const Bytes allowed = is_long() ? Bytes{4} << 20 : Bytes{2} << 20;
#ifndef __SANITIZE_ADDRESS__  // which keeps freed memory for a while
  EXPECT_LT(growth, allowed) << "bytes after " << rounds << " rounds, since half of them";
#endif
  if (test::world_rank() == 0)
    std::printf("rank 0: %d rounds, growth in the second half %lld KiB\n", rounds,
                static_cast<long long>(growth / 1024));
}

/// 2^31 + 5 elements in one field and a few more in another: beyond what an int counts, on two ranks.
TEST(LargeFields, MoreElementsThanAnIntCountsAreCarried) {
  if (!is_long()) GTEST_SKIP() << "needs 5 GB of memory: only with NUICE_SOAK_ROUNDS";
  if (test::world_size() != 2) GTEST_SKIP() << "on two ranks";
  const std::int64_t count = (std::int64_t{1} << 31) + 5;
  const bool is_sender = test::world_rank() == 0;
  mpi::Plan plan(MPI_COMM_WORLD, is_sender ? std::vector<Partner>{{1, 1000}} : std::vector<Partner>{},
                 {.scheduler = "coloring"});
  const auto letter = [](std::int64_t i) { return static_cast<char>((i * 2654435761) >> 20); };
  const std::vector<std::int64_t> counts = {count};
  const std::vector<std::int64_t> few = {3};
  std::vector<char> data(static_cast<std::size_t>(count), '?');
  std::vector<double> other = is_sender ? std::vector<double>{1, 2, 3} : std::vector<double>(3, 0);
  if (is_sender)
    for (std::int64_t i = 0; i < count; ++i) data[static_cast<std::size_t>(i)] = letter(i);
  std::vector<mpi::SendField> send = {{data.data(), MPI_CHAR, {}}, {other.data(), MPI_DOUBLE, {}}};
  std::vector<mpi::ReceiveField> receive = {{data.data(), MPI_CHAR, {}}, {other.data(), MPI_DOUBLE, {}}};
  is_sender ? (send[0].counts = counts, send[1].counts = few)
            : (receive[0].counts = counts, receive[1].counts = few);
  auto exchange = plan.bind_fields(send, receive);
  exchange.start();
  exchange.wait();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) wrong += data[static_cast<std::size_t>(i)] != letter(i) ? 1 : 0;
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(other, (std::vector<double>{1, 2, 3}));
}

}  // namespace
}  // namespace nuice
