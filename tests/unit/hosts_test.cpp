// SPDX-License-Identifier: BSD-3-Clause
// Several ranks on a host: how hosts are written, what contention for their ports is, and the law of the schedules made for
// them: in every phase a host sends to one other host at most, and receives from one.
#include <gtest/gtest.h>

#include "nuice/nuice.hpp"
#include "nuice/plan/host_schedule.hpp"
#include "support/matrices.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

TEST(Hosts, AreWrittenAsANumberOrRankByRank) {
  const Hosts blocks = parse_hosts("3", 7);
  EXPECT_EQ(blocks.num_hosts(), 3);
  EXPECT_EQ(blocks.host_of(5), 1);
  EXPECT_EQ(blocks.first_rank(2), 6);
  EXPECT_TRUE(blocks.any_shared());
  const Hosts named = parse_hosts("7,2,7,0", 4);  // numbered again, by lowest rank
  EXPECT_EQ(named.num_hosts(), 3);
  EXPECT_EQ(named.host_of(2), 0);
  EXPECT_EQ(named.host_of(1), 1);
  EXPECT_FALSE(parse_hosts("1", 4).any_shared());
  EXPECT_EQ(parse_hosts("99", 4).num_hosts(), 1);
  EXPECT_EQ(named.ranks_beside(2), (std::vector<Rank>{0, 2}));
  EXPECT_EQ(named.ranks_beside(3), (std::vector<Rank>{3}));
}

TEST(Hosts, ThatAreNoneAreErrors) {
  for (const char* text : {"", "0", "-1", "2x", "0,1,", "0,,1,1", " 2", "99999999999"})
    EXPECT_ERROR(parse_hosts(text, 4), ErrorCode::invalid_argument, {"hosts \"" + std::string(text) + "\""});
  EXPECT_ERROR(parse_hosts("0,0,1", 4), ErrorCode::invalid_argument, {"3 hosts for 4 ranks"});
}

TEST(Hosts, HaveAMatrixWithoutWhatStaysInside) {
  const CommMatrix matrix = test::matrix_of(4, {{0, 1, 5}, {0, 2, 7}, {1, 3, 11}, {3, 0, 2}, {2, 2, 9}});
  EXPECT_EQ(host_matrix(matrix, parse_hosts("2", 4)), test::matrix_of(2, {{0, 1, 18}, {1, 0, 2}}));
}

TEST(HostContention, IsTwoTransfersThroughOnePort) {
  const Hosts hosts = parse_hosts("2", 6);
  const auto found = [&](std::vector<Message> messages) {
    const CommMatrix matrix = test::matrix_of(6, std::move(messages));
    const auto at_once =
        Schedule::of_whole_messages(matrix, std::vector<PhaseId>(matrix.num_messages(), 0), 1);
    return find_host_contention(at_once, 0, hosts);
  };
  EXPECT_FALSE(found({{0, 2, 1}, {3, 5, 1}, {4, 1, 1}}));
  EXPECT_FALSE(found({{0, 1, 1}, {1, 0, 1}, {0, 2, 1}}));  // inside a host there is no port
  const auto sends = found({{0, 2, 1}, {1, 4, 1}});
  ASSERT_TRUE(sends);
  EXPECT_EQ(sends->kind, ViolationKind::two_sends);
  EXPECT_EQ(sends->text, "phase 0, rank 1 -> rank 4: the port of host 0 already sends for rank 0");
  const auto receives = found({{0, 2, 1}, {4, 3, 1}});
  ASSERT_TRUE(receives);
  EXPECT_EQ(receives->kind, ViolationKind::two_receives);
  EXPECT_EQ(receives->text, "phase 0, rank 4 -> rank 3: the port of host 1 already receives for rank 2");
}

// --- Schedules ----------------------------------------------------------------------------------------------------

/// One rank a host, all on one, blocks, and ranks spread round the hosts.
std::vector<Hosts> hosts_of(Rank num_ranks) {
  std::vector<Rank> spread;
  for (Rank rank = 0; rank < num_ranks; ++rank) spread.push_back(rank % 3);
  std::vector<Hosts> all;
  for (const char* text : {"1", "2", "4", "1000"}) all.push_back(parse_hosts(text, num_ranks));
  all.emplace_back(std::move(spread));
  return all;
}

void expect_no_host_contention(const Schedule& schedule, const Hosts& hosts) {
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    const auto contention = find_host_contention(schedule, phase, hosts);
    ASSERT_FALSE(contention) << contention->text;
  }
}

std::vector<test::NamedMatrix> matrices() {
  std::vector<test::NamedMatrix> all = test::extreme_matrices();
  for (const Rank n : {8, 13, 32})
    all.push_back({"density 0.4 of " + std::to_string(n),
                   random_density(n, 0.4, {.unit_bytes = 3, .max_units = 32}, 7)});
  return all;
}

class HostLaw : public testing::TestWithParam<const Scheduler*> {};

TEST_P(HostLaw, EveryPhaseUsesAHostsPortOnceEachWay) {
  const Scheduler& scheduler = *GetParam();
  for (const auto& [name, matrix] : matrices()) {
    for (const Hosts& hosts : hosts_of(matrix.num_ranks())) {
      SCOPED_TRACE(name + " on " + std::to_string(hosts.num_hosts()) + " hosts");
      const Problem problem{.matrix = matrix, .seed = 3};
      const Schedule schedule = make_host_schedule(problem, scheduler.name, hosts);
      const auto violation = check(matrix, schedule, host_guarantees(scheduler));
      ASSERT_FALSE(violation) << violation->text;
      if (schedules_hosts(scheduler)) expect_no_host_contention(schedule, hosts);
      EXPECT_TRUE(schedule == make_host_schedule(problem, scheduler.name, hosts));
      if (!hosts.any_shared()) {
        EXPECT_TRUE(schedule == make_schedule(problem, scheduler.name));
      }
    }
  }
}

std::vector<const Scheduler*> without_topology() {
  std::vector<const Scheduler*> rows;
  for (const Scheduler& scheduler : schedulers())
    if (!scheduler.needs_topology()) rows.push_back(&scheduler);
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Rows, HostLaw, testing::ValuesIn(without_topology()),
                         [](const auto& row) { return std::string(row.param->name); });

std::size_t most_at_a_port(const CommMatrix& matrix, const Hosts& hosts) {
  std::vector<std::size_t> sent(static_cast<std::size_t>(hosts.num_hosts()), 0);
  std::vector<std::size_t> received(sent);
  std::size_t most = 0;
  for (const Message& m : matrix.entries())
    if (!hosts.same(m.src, m.dst))
      most = std::max({most, ++sent.at(static_cast<std::size_t>(hosts.host_of(m.src))),
                       ++received.at(static_cast<std::size_t>(hosts.host_of(m.dst)))});
  return most;
}

/// Where hosts have different numbers of messages for each other, one after the other takes as many phases as the most of any pair that
/// shares one; coloured as edges of a multigraph they need no more than the busiest port.
TEST(HostSchedule, ColoursMessagesBetweenHosts) {
  for (const std::uint64_t seed : {1, 2, 3})
    for (const char* ranks_per_host : {"2", "4", "8"}) {
      const CommMatrix matrix = random_regular(64, 8, {.unit_bytes = 100}, seed);
      const Hosts hosts = parse_hosts(ranks_per_host, 64);
      const std::size_t most = most_at_a_port(matrix, hosts);
      const Problem problem{.matrix = matrix, .seed = seed};
      const auto phases = [&](const char* name) {
        return make_host_schedule(problem, name, hosts).num_phases();
      };
      EXPECT_EQ(phases("coloring"), most);
      EXPECT_LE(phases("distributed_coloring"), most + 2);
      EXPECT_GT(phases("rs_n"), most + most / 4);
    }
}

TEST(HostSchedule, IsAsByHand) {
  // Hosts {0, 1} and {2, 3}. From the first to the second three messages, one after the other; back one; inside one.
  const CommMatrix matrix = test::matrix_of(4, {{0, 2, 10}, {0, 3, 20}, {1, 2, 30}, {3, 0, 40}, {0, 1, 50}});
  const Hosts hosts = parse_hosts("2", 4);
  const auto text = [&](const Schedule& schedule) {
    std::string lines;
    for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
      lines += std::to_string(phase) + ":";
      for (const Transfer& transfer : schedule.transfers(phase))
        lines += " " + std::to_string(transfer.src) + ">" + std::to_string(transfer.dst) + "(" +
                 std::to_string(transfer.bytes()) + ")";
      lines += "\n";
    }
    return lines;
  };
  // 0 sends to the other host in phases 0 and 1, so its message to 1 comes third, next to 1's.
  EXPECT_EQ(text(make_host_schedule({.matrix = matrix}, "coloring", hosts)),
            "0: 0>2(10) 3>0(40)\n1: 0>3(20)\n2: 1>2(30) 0>1(50)\n");
}

TEST(HostSchedule, LeavesSchedulersAloneThatKnowTheNetwork) {
  EXPECT_FALSE(schedules_hosts(find_scheduler("link_coloring")));
  EXPECT_FALSE(schedules_hosts(find_scheduler("ac")));
  const CommMatrix matrix = random_regular(16, 5, {.unit_bytes = 8, .max_units = 1}, 1);
  const Hosts hosts = parse_hosts("4", 16);
  // A tree whose lowest switches are hosts, with one cable for four ranks, says the same in another way.
  const auto tree = make_topology("tree:4x4/4");
  const Problem problem{.matrix = matrix, .topology = tree.get()};
  expect_no_host_contention(make_host_schedule(problem, "link_coloring", hosts), hosts);
  EXPECT_ERROR(make_host_schedule(problem, "nothing", hosts), ErrorCode::invalid_argument, {"nothing"});
}

}  // namespace
}  // namespace nuice
