// SPDX-License-Identifier: BSD-3-Clause
// Planning::distributed: what no rank knows as a whole is the plan that a rank makes with the whole matrix,
// checked in pairs, and what goes wrong on one rank is the same error on all.
#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

constexpr const char* scheduler = "distributed_coloring";

mpi::Plan plan_for(const CommMatrix& matrix, mpi::PlanOptions options) {
  options.scheduler = scheduler;
  return mpi::Plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()), options);
}

/// However small the matrix is, no rank gathers it.
constexpr mpi::DistributedOptions never = {.gather_bytes = 0};

void expect_same_plan_by(const mpi::DistributedOptions& distributed, const CommMatrix& matrix,
                         mpi::PlanOptions options) {
  SCOPED_TRACE("gathers up to " + std::to_string(distributed.gather_bytes) + ", hosts " + options.hosts);
  const mpi::Plan everywhere = plan_for(matrix, options);
  options.planning = mpi::Planning::distributed;
  options.distributed = distributed;
  mpi::Plan local = plan_for(matrix, options);
  EXPECT_EQ(local.table(), everywhere.table());
  EXPECT_EQ(std::vector<Partner>(local.sources().begin(), local.sources().end()),
            test::column_of(matrix, test::world_rank()));
  const mpi::PlanInfo& a = local.info();
  const mpi::PlanInfo& b = everywhere.info();
  EXPECT_EQ(a.scheduler, b.scheduler);
  EXPECT_EQ(a.executor, b.executor);
  EXPECT_EQ(a.num_messages, b.num_messages);
  EXPECT_EQ(a.num_phases, b.num_phases);
  EXPECT_EQ(a.phase_bytes, b.phase_bytes);
  EXPECT_EQ(a.num_hosts, b.num_hosts);
  EXPECT_EQ(a.bounds.max_degree, b.bounds.max_degree);
  EXPECT_EQ(a.bounds.max_degree_at.rank, b.bounds.max_degree_at.rank);
  EXPECT_EQ(a.bounds.max_degree_at.direction, b.bounds.max_degree_at.direction);
  EXPECT_EQ(a.bounds.max_port_bytes, b.bounds.max_port_bytes);
  EXPECT_EQ(a.bounds.max_port_bytes_at.rank, b.bounds.max_port_bytes_at.rank);
  EXPECT_EQ(a.bounds.max_port_bytes_at.direction, b.bounds.max_port_bytes_at.direction);
  EXPECT_EQ(a.bounds.total_bytes, b.bounds.total_bytes);
  test::BoundPlan bound(local);
  bound.exchange_once();
}

void expect_same_plan(const CommMatrix& matrix, const mpi::PlanOptions& options) {
  for (const mpi::DistributedOptions& distributed : {never, mpi::DistributedOptions{}})
    expect_same_plan_by(distributed, matrix, options);
}

void expect_same_plan(const CommMatrix& matrix, std::uint64_t seed, const std::string& hosts = "auto") {
  expect_same_plan(matrix, {.seed = seed, .hosts = hosts});
}

TEST(Distributed, IsThePlanOfOneWhoKnowsAll) {
  const Rank n = test::world_size();
  for (const std::uint64_t seed : {0, 1, 2}) {
    expect_same_plan(random_density(n, 0.6, {.unit_bytes = 40, .max_units = 1}, seed), seed);
    expect_same_plan(random_density(n, 0.9, {.unit_bytes = 40, .max_units = 32}, seed), seed);
    expect_same_plan(random_regular(n, n / 2, {.unit_bytes = 8, .max_units = 4}, seed), seed);
  }
}

TEST(Distributed, CutsLargeMessagesAtBothEnds) {
  const Rank n = test::world_size();
  const CommMatrix matrix = test::with_one_large_message(n);
  for (const std::uint64_t seed : {0, 1, 2}) expect_same_plan(matrix, {.seed = seed, .phase_cost_bytes = 0});
  const mpi::Plan plan =
      plan_for(matrix, {.phase_cost_bytes = 0, .planning = mpi::Planning::distributed, .distributed = never});
  const auto pieces = std::ranges::count(plan.table().entries, 1, &PhaseEntry::send_partner);
  if (n >= 5 && test::world_rank() == 0) {
    EXPECT_GT(pieces, 1);
  }
}

/// Hosts that are pretended: blocks, all on one, and ranks spread over two.
TEST(Distributed, PlansRanksOfHostsAlike) {
  const Rank n = test::world_size();
  std::string spread;
  for (Rank r = 0; r < n; ++r) spread += (r > 0 ? "," : "") + std::to_string((r + 1) % 2);
  for (const std::string& hosts : {std::string("2"), std::string("3"), std::to_string(n), spread}) {
    if (n == 1 && hosts == spread) continue;
    for (const std::uint64_t seed : {0, 1, 2}) {
      expect_same_plan(random_density(n, 0.6, {.unit_bytes = 40, .max_units = 1}, seed), seed, hosts);
      expect_same_plan(random_density(n, 0.9, {.unit_bytes = 40, .max_units = 32}, seed), seed, hosts);
    }
    expect_same_plan(CommMatrix::from_messages(n, {}), 1, hosts);
  }
}

TEST(Distributed, TakesMessagesToItselfAndNoMessages) {
  const Rank n = test::world_size();
  expect_same_plan(CommMatrix::from_messages(n, {}), 1);
  expect_same_plan(CommMatrix::from_messages(n, std::vector<Message>{{0, 0, 17}}), 1);
  std::vector<Message> all;  // every rank to every rank, itself too; rank 0 most
  for (Rank src = 0; src < n; ++src)
    for (Rank dst = 0; dst < n; ++dst) all.push_back({src, dst, 100 + 50 * (src == 0)});
  expect_same_plan(CommMatrix::from_messages(n, all), 3);
}

TEST(Distributed, PlansAgainWhileOthersExchange) {
  const CommMatrix matrix = random_density(test::world_size(), 0.7, {.unit_bytes = 2000}, 4);
  const mpi::PlanOptions options{
      .executor = "phased", .hosts = "", .planning = mpi::Planning::distributed, .distributed = never};
  mpi::Plan first = plan_for(matrix, options);
  test::BoundPlan bound(first);
  bound.exchange.start();
  const mpi::Plan second = plan_for(matrix, options);
  bound.exchange.wait();
  bound.expect_received(0);
  EXPECT_EQ(second.table(), first.table());
}

TEST(Distributed, IsWatched) {
  const CommMatrix matrix = random_density(test::world_size(), 0.7, {.unit_bytes = 2000}, 4);
  const mpi::Plan plan =
      plan_for(matrix, {.planning = mpi::Planning::distributed, .watchdog_s = 20, .distributed = never});
  EXPECT_EQ(plan.table(), plan_for(matrix, {}).table());
}

TEST(Distributed, FailsOnAllRanksAlike) {
  const Rank n = test::world_size();
  const auto plan = [&](const std::vector<Partner>& row, mpi::PlanOptions options) {
    if (options.scheduler == mpi::PlanOptions{}.scheduler) options.scheduler = scheduler;
    options.planning = mpi::Planning::distributed;
    mpi::Plan(MPI_COMM_WORLD, row, options);
  };
  const Rank last = n - 1;
  const bool is_last = test::world_rank() == last;
  const std::string who = "rank " + std::to_string(last);
  test::expect_same_error(ErrorCode::invalid_argument, who + " -> rank " + std::to_string(n),
                          [&] { plan(is_last ? std::vector<Partner>{{n, 5}} : std::vector<Partner>{}, {}); });
  test::expect_same_error(ErrorCode::invalid_argument, who + " -> rank 0", [&] {
    plan(is_last ? std::vector<Partner>{{0, -5}} : std::vector<Partner>{}, {});
  });
  test::expect_same_error(ErrorCode::not_applicable, "for the scheduler distributed_coloring, not for ac",
                          [&] { plan({}, {.scheduler = "ac"}); });
  const mpi::Plan by_default(MPI_COMM_WORLD, std::vector<Partner>{},
                             {.planning = mpi::Planning::distributed});
  EXPECT_EQ(by_default.info().scheduler, "distributed_coloring");
  test::expect_same_error(ErrorCode::not_applicable, "combines no messages",
                          [&] { plan({}, {.hosts = "2", .combine = true}); });
  test::expect_same_error(ErrorCode::invalid_argument, "hosts \"2x\"", [&] { plan({}, {.hosts = "2x"}); });
  test::expect_same_error(ErrorCode::not_applicable, "depend", [&] { plan({}, {.executor = "depend"}); });
  if (n > 2)  // one that only receivers can see
    test::expect_same_error(ErrorCode::limit, "rank 0 is to receive", [&] {
      plan(test::world_rank() == 0 ? std::vector<Partner>{} : std::vector<Partner>{{0, max_bytes - 1}},
           {.distributed = never});
    });
}

mpi::Plan take(const PhaseTable& table) {
  return mpi::Plan::from_table(MPI_COMM_WORLD, table, {.planning = mpi::Planning::distributed});
}

TEST(Distributed, TakesTablesThatPartnersAgreeUpon) {
  std::vector<Message> entries =
      random_density(test::world_size(), 0.7, {.unit_bytes = 300, .max_units = 9}, 4).entries();
  entries.push_back({0, 0, 12});
  const CommMatrix matrix = CommMatrix::from_messages(test::world_size(), entries);
  for (const char* name : {"coloring", "birkhoff", "ac"}) {
    const Schedule schedule = make_schedule(matrix, name);
    const PhaseTable table = slice(matrix, schedule, test::world_rank());
    mpi::Plan plan = take(table);
    const mpi::Plan gathered = mpi::Plan::from_table(MPI_COMM_WORLD, table);
    EXPECT_EQ(plan.table(), table);
    EXPECT_EQ(plan.info().num_phases, schedule.num_phases());
    EXPECT_EQ(plan.info().phase_bytes, gathered.info().phase_bytes);
    EXPECT_EQ(plan.info().num_messages, matrix.num_messages());
    EXPECT_EQ(plan.info().bounds.max_port_bytes, gathered.info().bounds.max_port_bytes);
    test::BoundPlan bound(plan);
    bound.exchange_once();
  }
}

TEST(Distributed, NamesThePairThatDoesNotAgree) {
  const Rank n = test::world_size();
  if (n < 2) return;
  const auto matrix = CommMatrix::from_messages(n, std::vector<Message>{{0, 1, 64}, {1, 0, 64}});
  const auto first = [&] { return slice(matrix, make_schedule(matrix, "coloring"), test::world_rank()); };
  PhaseTable other_bytes = first();
  if (test::world_rank() == 1) {
    other_bytes.sources = {{0, 63}};
    other_bytes.entries.front().recv_bytes = 63;
  }
  test::expect_same_error(ErrorCode::mismatch,
                          "rank 0 -> rank 1: 64 bytes at offset 0 in phase 0 are sent, 63",
                          [&] { take(other_bytes); });
  PhaseTable unexpected = first();
  if (test::world_rank() == 0) {
    unexpected.sources.clear();
    unexpected.entries.front().recv_partner = no_rank;
  }
  test::expect_same_error(
      ErrorCode::mismatch,
      "rank 1 -> rank 0: 64 bytes at offset 0 in phase 0 are sent, no more bytes are expected",
      [&] { take(unexpected); });
  PhaseTable undelivered = first();
  if (test::world_rank() == 0) undelivered.entries.clear();
  test::expect_same_error(ErrorCode::mismatch, "the table of rank 0, rank 0 -> rank 1",
                          [&] { take(undelivered); });
  PhaseTable longer = first();
  if (test::world_rank() == n - 1) ++longer.num_phases;
  test::expect_same_error(ErrorCode::mismatch, "phases", [&] { take(longer); });
}

TEST(Distributed, IsAnOptionByName) {
  EXPECT_EQ(mpi::PlanOptions::parse("planning=distributed").planning, mpi::Planning::distributed);
  EXPECT_EQ((mpi::PlanOptions{.planning = mpi::Planning::distributed}).text(), "planning=distributed");
}

}  // namespace
}  // namespace nuice
