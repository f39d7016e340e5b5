// SPDX-License-Identifier: BSD-3-Clause
// Plans for hosts with several ranks, on hosts that are pretended: every byte arrives, both ways, whoever shares a port.
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
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {{"coloring", "credit"},
                                        {"birkhoff", "credit"},
                                        {"ac", "async"},
                                        {"rs_n", "phased", false, mpi::Planning::root},
                                        {"coloring", "barrier"},
                                        {"ac", "phased", true},
                                        {"birkhoff", "phased", true},
                                        {"rex", "barrier", true},
                                        {"coloring", "credit", false, mpi::Planning::root}};
  return all;
}

std::vector<std::string> host_texts(Rank n) {
  std::string spread;
  for (Rank r = 0; r < n; ++r) spread += (r > 0 ? "," : "") + std::to_string(r % 2);
  std::vector<std::string> texts = {"2", "auto"};
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
    bound.refill(round);
    bound.exchange.start();
    bound.exchange.wait();
    bound.expect_received(round);
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
                      .planning = c.planning,
                      .credit = {.chunk_bytes = 4096, .window_bytes = 12'288}});
      EXPECT_EQ(plan.info().combined, c.combine);
      EXPECT_EQ(plan.info().num_hosts, hosts == "auto" ? 1 : hosts == "2" ? (n + 1) / 2 : 2);
      expect_both_ways(plan);
    }
  }
}

TEST(HostPlan, SendsAcrossOncePerPairOfHostsWhenCombined) {
  const Rank n = test::world_size();
  if (n < 4) GTEST_SKIP() << "needs two hosts of two ranks";
  const CommMatrix matrix = random_regular(n, n - 1, {.unit_bytes = 16, .max_units = 1}, 1);
  const mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
                       {.scheduler = "ac", .executor = "phased", .hosts = "2", .combine = true});
  int across = 0;
  for (const PhaseEntry& entry : plan.table().entries)
    across += entry.send_partner != no_rank && entry.send_partner / 2 != test::world_rank() / 2 ? 1 : 0;
  EXPECT_EQ(across, test::world_rank() % 2 == 0 ? plan.info().num_hosts - 1 : 0);
  EXPECT_EQ(plan.info().num_phases, 3U);
}

TEST(HostPlan, AutoAsksTheAdviserAboutHosts) {
  const CommMatrix matrix = uneven(test::world_size());
  for (const bool combine : {false, true}) {
    mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
                   {.scheduler = "auto",
                    .hosts = "2",
                    .combine = combine,
                    .automatic = {.machine = "testbed-shallow", .wisdom = "none"}});
    ASSERT_NE(plan.advice(), nullptr);
    EXPECT_EQ(plan.advice()->num_ranks, test::world_size() > 1 ? plan.info().num_hosts : 1);
    EXPECT_EQ(plan.info().combined, combine);
    expect_both_ways(plan);
  }
}

TEST(HostPlan, OfATableSharesTheWindowToo) {
  const Rank n = test::world_size();
  const CommMatrix matrix = uneven(n);
  const PhaseTable table = slice(matrix, make_schedule(matrix, "coloring"), test::world_rank());
  mpi::Plan plan = mpi::Plan::from_table(
      MPI_COMM_WORLD, table, {.executor = "credit", .hosts = "2", .credit = {.window_bytes = 4096}});
  expect_both_ways(plan);
}

TEST(HostPlan, RefusesWhatMakesNoSense) {
  const std::vector<Partner> none;
  const auto plan = [&](const mpi::PlanOptions& options) { mpi::Plan(MPI_COMM_WORLD, none, options); };
  test::expect_same_error(ErrorCode::invalid_argument, "say which ranks share a host (hosts)",
                          [&] { plan({.hosts = "", .combine = true}); });
  test::expect_same_error(ErrorCode::invalid_argument, "hosts \"two\"", [&] { plan({.hosts = "two"}); });
  test::expect_same_error(ErrorCode::invalid_argument, "ranks",
                          [&] { plan({.hosts = "0,0,0,0,0,0,0,0,0,0,0,0"}); });
  test::expect_same_error(ErrorCode::not_applicable, "combine",
                          [&] { plan({.executor = "credit", .hosts = "2", .combine = true}); });
  if (test::world_size() == 1) return;
  test::expect_same_error(ErrorCode::mismatch, "option hosts differs: 2 on rank 0, 1 on rank 1",
                          [&] { plan({.hosts = test::world_rank() == 0 ? "2" : "1"}); });
}

}  // namespace
}  // namespace nuice
