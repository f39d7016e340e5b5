// SPDX-License-Identifier: BSD-3-Clause
// The executor credit when ranks are late: each holds up its own share only, of whatever pieces its messages are made. A
// rank that is late here begins when another one, which must not need it, has finished; a watchdog ends what would hang.
#include <chrono>
#include <string>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace {

/// Bytes of this rank's chunks. What it says to others in addition is shorter.
struct Chunks {
  static constexpr long shortest = 500;
  long isend = 0;
  long persistent = 0;
  static void add(long& sum, int count, MPI_Datatype type) {
    int size = 0;
    MPI_Type_size(type, &size);
    const long bytes = static_cast<long>(count) * size;
    if (bytes >= shortest) sum += bytes;
  }
} chunks;

}  // namespace

// Found before those of MPI, which are still there as PMPI_.
#define COUNTED(call, sum)                                                                                  \
  extern "C" int MPI_##call(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                            MPI_Request* request) {                                                         \
    Chunks::add(chunks.sum, count, type);                                                                   \
    return PMPI_##call(data, count, type, to, tag, comm, request);                                          \
  }
COUNTED(Isend, isend)
COUNTED(Issend, isend)
COUNTED(Send_init, persistent)
COUNTED(Ssend_init, persistent)
#undef COUNTED

namespace nuice {
namespace {

constexpr double patience_s = 30;
constexpr Bytes large = 200'000;

void await_word_of(Rank rank) { MPI_Recv(nullptr, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
void give_word_to(Rank rank) { MPI_Send(nullptr, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD); }

/// Ranks 0 and 1 send to rank 2, which must get one's message before the other begins.
void expect_one_without_the_other(mpi::Exchange& exchange, Rank late) {
  const Rank me = test::world_rank();
  if (me == late) await_word_of(2);
  exchange.start();
  if (me == 2) {
    const auto first = exchange.next();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->source.rank, 1 - late);
    give_word_to(late);
  }
  exchange.wait();
}

std::vector<Partner> two_to_one() {
  return test::world_rank() < 2 ? std::vector<Partner>{{2, large}} : std::vector<Partner>{};
}

mpi::PlanOptions credit_options(std::string hosts = "1") {
  return {.scheduler = "coloring", .executor = "credit", .hosts = std::move(hosts), .watchdog_s = patience_s};
}

TEST(Credit, ALateSenderLeavesThePortToTheOthers) {
  if (test::world_size() < 3) GTEST_SKIP() << "needs three ranks";
  for (const Rank late : {0, 1}) {  // one of them is the first in the table
    SCOPED_TRACE(late);
    mpi::Plan plan(MPI_COMM_WORLD, two_to_one(), credit_options());
    test::BoundPlan bound(plan);
    for (unsigned round = 0; round < 12; ++round) {  // with all windows that are tried
      SCOPED_TRACE(round);
      bound.refill(round);
      expect_one_without_the_other(bound.exchange, late);
      bound.expect_received(round);
    }
  }
}

/// All pieces of one rank stand before those of the other.
TEST(Credit, ALateSenderOfPiecesDoesToo) {
  if (test::world_size() < 3) GTEST_SKIP() << "needs three ranks";
  const CommMatrix matrix =
      CommMatrix::from_messages(test::world_size(), std::vector<Message>{{0, 2, large}, {1, 2, large}});
  Schedule schedule(test::world_size());
  for (const MessageId id : {0, 1})
    for (const Bytes offset : {Bytes{0}, large / 2}) {
      schedule.begin_phase();
      schedule.add(id == 0 ? 0 : 1, 2, std::vector<Piece>{{id, offset, large / 2}});
    }
  const PhaseTable table = slice(matrix, schedule, test::world_rank());
  mpi::Plan plan = mpi::Plan::from_table(MPI_COMM_WORLD, table, credit_options());
  test::BoundPlan bound(plan);
  for (unsigned round = 0; round < 2; ++round) {
    bound.refill(round);
    expect_one_without_the_other(bound.exchange, round == 0 ? 0 : 1);
    bound.expect_received(round);
  }
}

/// The same number in every place of `count` fields; counts(field) of them for every partner.
template <typename Counts>
void expect_fields_without_late(mpi::Plan& plan, Rank late, int num_fields, Counts&& counts) {
  const Rank me = test::world_rank();
  using Numbers = std::vector<std::int64_t>;
  std::vector<Numbers> sent;
  std::vector<Numbers> out_counts;
  std::vector<Numbers> in_counts;
  std::vector<Numbers> expected;
  for (int field = 0; field < num_fields; ++field) {
    const auto fill = [&](std::span<const Partner> partners, Numbers& numbers, bool is_send) {
      Numbers mine;
      for (const Partner& partner : partners) {
        const Rank src = is_send ? me : partner.rank;
        mine.push_back(counts(src, field));
        numbers.insert(numbers.end(), static_cast<std::size_t>(mine.back()), 1000 * src + field);
      }
      return mine;
    };
    out_counts.push_back(fill(plan.destinations(), sent.emplace_back(), true));
    in_counts.push_back(fill(plan.sources(), expected.emplace_back(), false));
  }
  std::vector<Numbers> received;
  for (const Numbers& numbers : expected) received.emplace_back(numbers.size(), -1);
  std::vector<mpi::SendField> send;
  std::vector<mpi::ReceiveField> receive;
  for (std::size_t f = 0; f < sent.size(); ++f) {
    send.push_back({sent[f].data(), MPI_INT64_T, out_counts[f]});
    receive.push_back({received[f].data(), MPI_INT64_T, in_counts[f]});
  }
  mpi::Exchange exchange = plan.bind(send, receive);
  expect_one_without_the_other(exchange, late);
  EXPECT_EQ(received, expected);
}

TEST(Credit, ALateSenderOfSeveralFieldsDoesToo) {
  if (test::world_size() < 3) GTEST_SKIP() << "needs three ranks";
  mpi::Plan plan(MPI_COMM_WORLD, two_to_one(), credit_options());
  for (const Rank late : {0, 1}) {
    SCOPED_TRACE(late);
    expect_fields_without_late(plan, late, 2, [](Rank, int) { return 20'000; });
  }
}

/// More chunks from this host than are in flight at once are no reason to leave the port idle.
TEST(Credit, ALateRankOfThisHostLeavesThePortToTheOthers) {
  if (test::world_size() < 3) GTEST_SKIP() << "needs three ranks";
  std::string hosts = "0,1,1";
  for (Rank rank = 3; rank < test::world_size(); ++rank) hosts += "," + std::to_string(rank);
  mpi::Plan plan(MPI_COMM_WORLD, two_to_one(), credit_options(hosts));
  expect_fields_without_late(plan, 1, 300, [](Rank src, int field) {
    if (src == 1) return 1;
    return field == 0 ? 20'000 : 0;
  });
}

/// Rank 0 has most to send to the rank that is late, which would be served first.
TEST(Credit, ALateReceiverLeavesTheSenderToTheOthers) {
  if (test::world_size() < 3) GTEST_SKIP() << "needs three ranks";
  const Rank me = test::world_rank();
  for (const Rank late : {1, 2}) {
    SCOPED_TRACE(late);
    std::vector<Partner> destinations;
    if (me == 0) destinations = {{late, 2 * large}, {3 - late, large}};
    mpi::Plan plan(MPI_COMM_WORLD, destinations, credit_options());
    test::BoundPlan bound(plan);
    if (me == late) await_word_of(3 - late);
    bound.exchange.start();
    bound.exchange.wait();
    if (me == 3 - late) give_word_to(late);
    bound.expect_received(0);
  }
}

/// What is granted once and for all would let a rank that receives nothing run ahead of its receivers without end.
TEST(Credit, NobodyIsThroughBeforeItsReceiversHaveBegun) {
  if (test::world_size() < 3) GTEST_SKIP() << "needs three ranks";
  const Rank me = test::world_rank();
  std::vector<Partner> destinations;
  if (me < 2) destinations.push_back({2, me == 0 ? 100 : large});
  mpi::Plan plan(MPI_COMM_WORLD, destinations, credit_options());
  test::BoundPlan bound(plan);
  for (unsigned round = 0; round < 2; ++round) {
    bound.refill(round);
    if (me == 2) await_word_of(0);
    bound.exchange.start();
    if (me == 0) {
      for (int look = 0; look < 50; ++look) {
        ASSERT_FALSE(bound.exchange.test());
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      give_word_to(2);
    }
    bound.exchange.wait();
    bound.expect_received(round);
  }
}

/// Every rank to every other.
std::vector<Partner> to_all(Bytes bytes) {
  std::vector<Partner> destinations;
  for (Rank rank = 0; rank < test::world_size(); ++rank)
    if (rank != test::world_rank()) destinations.push_back({rank, bytes});
  return destinations;
}

TEST(Credit, FindsItsWindowWhileItRuns) {
  if (test::world_size() < 2) GTEST_SKIP() << "needs two ranks";
  for (const Bytes bound : {Bytes{20'000}, max_bytes}) {
    SCOPED_TRACE(bound);
    mpi::PlanOptions options = credit_options();
    options.credit.window_bytes = bound;
    mpi::Plan plan(MPI_COMM_WORLD, to_all(40'000), options);
    test::BoundPlan bound_plan(plan);
    // A report in which ranks were at different windows does not count; on a busy machine that may be several.
    int has_tried = 0;
    for (unsigned round = 0; has_tried == 0 && round < 4000; ++round) {
      bound_plan.refill(round);
      bound_plan.exchange.start();
      EXPECT_LE(bound_plan.exchange.info().window_bytes, bound);
      bound_plan.exchange.wait();
      bound_plan.expect_received(round);
      has_tried = bound_plan.exchange.info().trials.empty() ? 0 : 1;
      MPI_Allreduce(MPI_IN_PLACE, &has_tried, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    EXPECT_EQ(has_tried, 1);
    const mpi::ExchangeInfo& info = bound_plan.exchange.info();
    EXPECT_EQ(info.executor, "credit");
    for (const mpi::WindowTrial& trial : info.trials) {
      EXPECT_GT(trial.mean_s, 0);
      EXPECT_LE(trial.window_bytes, bound);
    }
  }
}

TEST(Credit, DoesAsItIsToldWhereItMayNotAdapt) {
  if (test::world_size() < 2) GTEST_SKIP() << "needs two ranks";
  mpi::PlanOptions options = credit_options();
  options.credit = {.chunk_bytes = 3000, .window_bytes = 9000, .adapt = false};
  mpi::Plan plan(MPI_COMM_WORLD, to_all(40'000), options);
  test::BoundPlan bound(plan);
  for (unsigned round = 0; round < 20; ++round) {
    bound.refill(round);
    bound.exchange.start();
    bound.exchange.wait();
    bound.expect_received(round);
  }
  EXPECT_EQ(bound.exchange.info().window_bytes, 9000);
  EXPECT_EQ(bound.exchange.info().chunk_bytes, 3000);
  EXPECT_TRUE(bound.exchange.info().trials.empty());
}

/// Open MPI sends by all ports of a host in turn what MPI_Start begins, and by one of them what MPI_Isend does (docs/adr/0045).
TEST(Credit, ChunksToOtherHostsLeaveByAllPortsInTurn) {
  if (test::world_size() < 4 || test::world_size() % 2 != 0) GTEST_SKIP() << "needs hosts of two ranks";
  const Rank me = test::world_rank();
  std::string hosts;
  for (Rank rank = 0; rank < test::world_size(); ++rank)
    hosts += (rank > 0 ? "," : "") + std::to_string(rank / 2);
  mpi::PlanOptions options = credit_options(hosts);
  options.credit = {.chunk_bytes = 3000, .window_bytes = 9000, .adapt = false};
  const bool is_near = me % 2 == 0;
  const Rank next = (me + 1) % test::world_size();
  for (const std::string executor : {"credit", "planless"}) {
    SCOPED_TRACE(executor);
    options.executor = executor;
    mpi::Plan plan(MPI_COMM_WORLD, std::vector<Partner>{{next, large}}, options);
    test::BoundPlan bound(plan);
    for (unsigned round = 0; round < 3; ++round) {
      chunks = {};
      bound.refill(round);
      bound.exchange.start();
      bound.exchange.wait();
      bound.expect_received(round);
      EXPECT_EQ(chunks.isend, is_near ? large : 0);
      EXPECT_EQ(chunks.persistent, is_near ? 0 : large);
    }
  }
}

/// Ranks 0 and 1 are many exchanges ahead of 2 and 3, which wait for them in another one.
TEST(Credit, WhatRanksReportIsNeverWaitedFor) {
  if (test::world_size() != 4) GTEST_SKIP() << "for four ranks";
  const Rank me = test::world_rank();
  mpi::Plan near(MPI_COMM_WORLD, std::vector<Partner>{{me ^ 1, large}}, credit_options());
  mpi::Plan across(MPI_COMM_WORLD, std::vector<Partner>{{me ^ 2, large}}, credit_options());
  test::BoundPlan x(near);
  test::BoundPlan y(across);
  const auto run = [](test::BoundPlan& bound, unsigned rounds) {
    for (unsigned round = 0; round < rounds; ++round) {
      bound.refill(round);
      bound.exchange.start();
      bound.exchange.wait();
      bound.expect_received(round);
    }
  };
  if (me < 2) run(x, 60);
  run(y, 1);
  if (me >= 2) run(x, 60);
}

/// MPI may give the place of a communicator that was freed to the next one.
TEST(Credit, PlansThatComeAndGoDoNotMeetEachOthersReports) {
  for (int round = 0; round < test::rounds(20, 60); ++round) {
    mpi::Plan plan(MPI_COMM_WORLD, to_all(20'000), credit_options());
    test::BoundPlan bound(plan);
    for (unsigned i = 0; i <= static_cast<unsigned>(round % 5); ++i) {
      bound.refill(i);
      bound.exchange.start();
      bound.exchange.wait();
      bound.expect_received(i);
    }
  }
}

}  // namespace
}  // namespace nuice
