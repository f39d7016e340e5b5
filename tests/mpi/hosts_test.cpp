// SPDX-License-Identifier: BSD-3-Clause
// Plans for hosts with several ranks, on hosts that are pretended: every byte arrives,
// both ways, whichever ranks share a port.
#include <sys/resource.h>

#include <csignal>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice {
namespace {

/// Sizes from 1 byte to above every eager limit, ranks with little and with much to receive.
CommMatrix uneven(Rank n) {
  std::vector<Message> messages;
  for (Rank r = 0; r < n; ++r)
    for (Rank s = 0; s < n; ++s)
      if ((r + 2 * s) % 3 != 0) messages.push_back({r, s, (r + s) % 4 == 0 ? 70'000 + r : 1 + 300 * s});
  return CommMatrix::from_messages(n, messages);
}

struct Case {
  std::string scheduler;
  std::string executor;
  bool combine = false;
  mpi::Planning planning = mpi::Planning::everywhere;
  mpi::CombineOptions combining = {};
  double watchdog_s = 0;
  Bytes in_memory = -1;  // bytes of a message that stays in memory, at most; -1: none does
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"coloring", "phased"},
      {"birkhoff", "phased"},
      {"ac", "async"},
      {"rs_n", "phased"},
      {"coloring", "pairwise"},
      {"ac", "async", true},
      {"ac", "phased", true, mpi::Planning::everywhere, {1, 0}},
      {"coloring", "async", true, mpi::Planning::everywhere, {4000, 2}},
      {"ac", "async", true, mpi::Planning::everywhere, {100'000, 1}},
      {"ac", "async", true, mpi::Planning::everywhere, {2000, 0}, 60},
      {"coloring", "phased", true, mpi::Planning::everywhere, {0, 0}},
      {"coloring", "depend", true},
      {"birkhoff", "phased", true},
      {"rex", "pairwise"},
      {"coloring", "depend"},
      {.scheduler = "ac", .executor = "async", .in_memory = 1000},
      {.scheduler = "ac", .executor = "async", .in_memory = 100'000},
      {.scheduler = "rs_n", .executor = "phased", .in_memory = 600},
      {.scheduler = "coloring", .executor = "depend", .watchdog_s = 60, .in_memory = 600},
      {.scheduler = "coloring", .executor = "phased", .in_memory = 0},
      {.scheduler = "distributed_coloring",
       .executor = "phased",
       .planning = mpi::Planning::distributed,
       .in_memory = 600},
      {.scheduler = "rex", .executor = "phased", .in_memory = 600},
      {.scheduler = "ac", .executor = "async", .combine = true, .combining = {300, 0}, .in_memory = 1000}};
  return all;
}

std::vector<std::string> host_texts(Rank n) {
  std::string spread;
  for (Rank r = 0; r < n; ++r) spread += (r > 0 ? "," : "") + std::to_string(r % 2);
  std::vector<std::string> texts = {"2"};
  if (n < 8) texts.push_back("auto");  // one host: on more ranks the same, in seconds
  if (n > 1) texts.push_back(spread);
  return texts;
}

void expect_both_ways(mpi::Plan& plan) {
  test::BoundPlan bound(plan);
  const test::Blocks back = test::payload_to_send(plan.table().rank, plan.sources());
  test::Blocks returned = test::poisoned(plan.destinations());
  mpi::Exchange reverse =
      plan.bind(test::send_buffers(back), test::receive_buffers(returned), mpi::Direction::backwards);
  for (unsigned round = 0; round < 2; ++round) {
    bound.exchange_once(round);
    test::poison_again(returned);
    reverse.start();
    while (reverse.next()) {
    }
    EXPECT_EQ(returned, test::payload_expected(plan.table().rank, plan.destinations()));
  }
}

TEST(HostPlan, DeliversEveryByteBothWays) {
  const Rank n = test::world_size();
  const CommMatrix matrix = uneven(n);
  for (const Case& c : cases()) {
    for (const std::string& hosts : host_texts(n)) {
      SCOPED_TRACE(c.scheduler + " on hosts " + hosts);
      mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
                     {.scheduler = c.scheduler,
                      .executor = c.executor,
                      .hosts = hosts,
                      .combine = c.combine,
                      .shared_memory = c.in_memory >= 0,
                      .planning = c.planning,
                      .watchdog_s = c.watchdog_s,
                      .combining = c.combining,
                      .sharing = {.largest_bytes = std::max(c.in_memory, Bytes{0})}});
      EXPECT_EQ(plan.info().combined, c.combine);
      EXPECT_EQ(plan.info().shared_memory, c.in_memory >= 0);
      EXPECT_EQ(plan.info().num_hosts, hosts == "auto" ? 1 : hosts == "2" ? (n + 1) / 2 : 2);
      expect_both_ways(plan);
    }
  }
}

TEST(HostPlan, SendsAcrossOncePerPairOfHostsWhenCombined) {
  const Rank n = test::world_size();
  if (n < 4) GTEST_SKIP() << "needs two hosts of two ranks";
  const CommMatrix matrix = random_regular(n, n - 1, {.unit_bytes = 16, .max_units = 1}, 1);
  mpi::Plan plan(
      MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
      {.scheduler = "ac", .executor = "async", .hosts = "2", .combine = true, .combining = {16, 1}});
  test::BoundPlan bound(plan);
  const Rank hosts = plan.info().num_hosts;
  int across = 0;
  for (Rank r = 0; r < n; ++r) across += n - (r / 2 == hosts - 1 && n % 2 == 1 ? 1 : 2);
  EXPECT_EQ(bound.exchange.info().combined, std::to_string(across) + " messages between hosts are " +
                                                std::to_string(hosts * (hosts - 1)) +
                                                ", which one rank of a host send and receive");
}

/// A plan whose messages are combined, in an exchange of that many.
void expect_arrivals(mpi::Plan& plan, unsigned rounds) {
  test::BoundPlan bound(plan);
  for (unsigned round = 0; round < rounds; ++round) {
    bound.refill(round);
    bound.exchange.start();
    std::size_t count = 0;
    const bool is_through = round % 3 == 1 && bound.exchange.test();
    if (round % 3 == 2) {
      while (!bound.exchange.test()) {
      }
    } else if (!is_through) {
      while (bound.exchange.next()) ++count;
    }
    bound.expect_received(round);
    EXPECT_EQ(count, round % 3 == 0 ? plan.sources().size() : count);
  }
}

TEST(HostPlan, HandsOverCombinedMessagesOneByOne) {
  const CommMatrix matrix = uneven(test::world_size());
  for (const Bytes largest : {Bytes{500}, Bytes{100'000}}) {
    mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
                   {.scheduler = "ac",
                    .executor = "depend",
                    .shared_memory = true,
                    .sharing = {.largest_bytes = largest}});
    expect_arrivals(plan, 60);
  }
  for (const Bytes largest : {Bytes{500}, Bytes{100'000}}) {
    mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
                   {.scheduler = "ac",
                    .executor = "async",
                    .hosts = "2",
                    .combine = true,
                    .combining = {.largest_bytes = largest}});
    expect_arrivals(plan, 60);
  }
}

/// Many exchanges, two active at a time.
void exchange_side_by_side(test::BoundPlan& first, test::BoundPlan& second) {
  for (unsigned round = 0; round < 300; ++round) {
    first.refill(round);
    second.refill(round + 7);
    first.exchange.start();
    second.exchange.start();
    second.exchange.wait();
    first.exchange.wait();
    first.expect_received(round);
    second.expect_received(round + 7);
  }
}

/// Ranks that are ahead by an exchange, and several exchanges active: halves of the memory
/// that are used again too soon would show.
TEST(HostPlan, RunsAheadByAnExchange) {
  const Rank n = test::world_size();
  std::vector<Message> messages;  // rank 0 only sends
  for (Rank r = 1; r < n; ++r) messages.push_back({0, r, 100 + r});
  const CommMatrix matrix = CommMatrix::from_messages(n, messages);
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
                 {.scheduler = "ac", .executor = "async", .hosts = "2", .combine = true});
  test::BoundPlan first(plan);
  test::BoundPlan second(plan);
  exchange_side_by_side(first, second);
}

/// No rank answers rank 0, which so is ahead by as many exchanges as a mailbox has slots; and
/// long messages travel at the same time.
TEST(HostPlan, RunsAheadByManyExchangesInMemory) {
  const Rank n = test::world_size();
  std::vector<Message> messages;
  for (Rank r = 1; r < n; ++r) messages.push_back({r - 1, r, r % 3 == 2 ? 70'000 + r : 100 + r});
  const CommMatrix matrix = CommMatrix::from_messages(n, messages);
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
                 {.scheduler = "ac", .executor = "async", .shared_memory = true});
  test::BoundPlan first(plan);
  test::BoundPlan second(plan);
  EXPECT_EQ(first.exchange.info().shared_memory,
            n == 1 ? "no message inside a host has at most 65536 bytes"
                   : std::to_string(n - 1 - n / 3) + " messages inside hosts, of at most 65536 bytes");
  exchange_side_by_side(first, second);
}

/// A rank that has started is busy with something else until its reader
/// has finished, however far it is ahead.
TEST(HostPlan, ARankThatOnlyStartsKeepsNobodyWaitingInMemory) {
  const Rank n = test::world_size();
  if (n < 2) GTEST_SKIP() << "needs a sender and a receiver";
  const Rank rank = test::world_rank();
  const CommMatrix matrix = CommMatrix::from_messages(n, std::vector<Message>{{0, 1, 60'000}});  // two slots
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, rank),
                 {.scheduler = "ac", .executor = "async", .shared_memory = true});
  test::BoundPlan bound(plan);
  for (int round = 0; round < 60; ++round) {
    bound.refill(static_cast<unsigned>(round));
    bound.exchange.start();
    int answer = round;
    if (rank == 0 && round % 6 == 5) MPI_Recv(&answer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bound.exchange.wait();
    if (rank == 1 && round % 6 == 5) MPI_Send(&answer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    EXPECT_EQ(answer, round);
    bound.expect_received(static_cast<unsigned>(round));
  }
}

TEST(HostPlan, AutoSharesMemoryOnOneHost) {
  const CommMatrix matrix = uneven(test::world_size());
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()), {.scheduler = "auto"});
  EXPECT_EQ(plan.info().shared_memory, test::world_size() > 1);
  EXPECT_EQ(plan.follow(plan.destinations()).info().shared_memory, test::world_size() > 1);
  for (const mpi::PlanOptions& other :
       {mpi::PlanOptions{.executor = "async"}, mpi::PlanOptions{.automatic = {.reuse = 10}}}) {
    mpi::PlanOptions options = other;
    options.scheduler = "auto";
    EXPECT_FALSE(mpi::Plan(MPI_COMM_WORLD, plan.destinations(), options).info().shared_memory);
  }
  EXPECT_EQ(plan.advice()->sentence.find("through memory that the host's ranks share") != std::string::npos,
            test::world_size() > 1)
      << plan.advice()->sentence;
  expect_both_ways(plan);
}

TEST(HostPlan, CombinesNothingWhereMemoryCannotBeShared) {
  const CommMatrix matrix = uneven(test::world_size());
  mpi::Plan plan(
      MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
      {.scheduler = "coloring", .executor = "phased", .hosts = "2", .combine = true, .shared_memory = true});
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{0, before.rlim_max};
  if (test::world_rank() == 0) setrlimit(RLIMIT_FSIZE, &none);
  test::BoundPlan bound(plan);
  setrlimit(RLIMIT_FSIZE, &before);
  (void)std::signal(SIGXFSZ, handler);
  EXPECT_EQ(bound.exchange.info().combined,
            test::world_size() == 1
                ? ""
                : "nothing is combined: the ranks of the host of rank 0 cannot share memory");
  EXPECT_EQ(bound.exchange.info().shared_memory,
            test::world_size() == 1 ? "no message inside a host has at most 65536 bytes"
                                    : "none: the ranks of the host of rank 0 cannot share memory");
  EXPECT_EQ(bound.exchange.info().executor, "phased");
  bound.exchange_once(1);
}

TEST(HostPlan, AutoAsksTheAdviserAboutHosts) {
  const CommMatrix matrix = uneven(test::world_size());
  for (const bool combine : {false, true}) {
    mpi::Plan plan(
        MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
        {.scheduler = "auto", .hosts = "2", .combine = combine, .automatic = {.machine = "testbed-shallow"}});
    ASSERT_NE(plan.advice(), nullptr);
    EXPECT_EQ(plan.advice()->num_ranks, test::world_size() > 1 ? plan.info().num_hosts : 1);
    EXPECT_TRUE(plan.info().combined || !combine);
    expect_both_ways(plan);
  }
}

TEST(HostPlan, AutoCombinesWhereOneMessageTakesThePlaceOfSeveral) {
  const Rank n = test::world_size();
  if (n < 4 || n % 2 != 0) GTEST_SKIP() << "needs hosts of two ranks";
  const CommMatrix dense = random_regular(n, n - 1, {.unit_bytes = 16, .max_units = 1}, 1);
  for (const Bytes largest : {Bytes{16}, Bytes{15}}) {
    mpi::Plan plan(MPI_COMM_WORLD, test::row_of(dense, test::world_rank()),
                   {.scheduler = "auto",
                    .hosts = "2",
                    .combining = {.largest_bytes = largest},
                    .automatic = {.machine = "testbed-shallow"}});
    EXPECT_EQ(plan.info().combined, largest == 16);
    EXPECT_EQ(plan.follow(plan.destinations()).info().combined, largest == 16);
    const std::string said = std::to_string(n * (n - 2)) + " messages of at most 16 bytes between hosts";
    EXPECT_EQ(plan.advice()->sentence.find(said) != std::string::npos, largest == 16)
        << plan.advice()->sentence;
    expect_both_ways(plan);
  }
}

TEST(HostPlan, OfATable) {
  const Rank n = test::world_size();
  const CommMatrix matrix = uneven(n);
  const PhaseTable table = slice(matrix, make_schedule(matrix, "coloring"), test::world_rank());
  mpi::Plan plan = mpi::Plan::from_table(MPI_COMM_WORLD, table, {.executor = "async", .hosts = "2"});
  expect_both_ways(plan);
}

TEST(HostPlan, RefusesWhatMakesNoSense) {
  const std::vector<Partner> none;
  const auto plan = [&](const mpi::PlanOptions& options) { mpi::Plan(MPI_COMM_WORLD, none, options); };
  test::expect_same_error(ErrorCode::invalid_argument, "set the option hosts",
                          [&] { plan({.hosts = "", .combine = true}); });
  test::expect_same_error(ErrorCode::invalid_argument,
                          "option shared_memory needs to know which ranks share a host",
                          [&] { plan({.hosts = "", .shared_memory = true}); });
  test::expect_same_error(ErrorCode::invalid_argument, "hosts \"two\"", [&] { plan({.hosts = "two"}); });
  test::expect_same_error(ErrorCode::invalid_argument, "ranks",
                          [&] { plan({.hosts = "0,0,0,0,0,0,0,0,0,0,0,0"}); });
  test::expect_same_error(ErrorCode::not_applicable, "rex", [&] {
    plan({.scheduler = "rex", .executor = "async", .hosts = "2", .combine = true});
  });
  test::expect_same_error(ErrorCode::not_applicable, "rex forwards messages", [&] {
    plan({.scheduler = "rex", .executor = "phased", .hosts = "2", .combine = true});
  });
  if (test::world_size() == 1) return;
  test::expect_same_error(ErrorCode::mismatch, "option hosts differs: 2 on rank 0, 1 on rank 1",
                          [&] { plan({.hosts = test::world_rank() == 0 ? "2" : "1"}); });
}

}  // namespace
}  // namespace nuice
