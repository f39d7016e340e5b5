// SPDX-License-Identifier: BSD-3-Clause
// Link contention: what the checker says of it, its bounds, and the rows of the
// table that avoid it on every network.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "nuice/nuice.hpp"
#include "support/golden.hpp"
#include "support/matrices.hpp"
#include "support/sizes.hpp"
#include "support/throws.hpp"
#include "support/topologies.hpp"

namespace nuice {
namespace {

// --- Checker -----------------------------------------------------------------------------------------------

/// All messages in one phase.
Schedule at_once(const CommMatrix& matrix) {
  return Schedule::of_whole_messages(matrix, std::vector<PhaseId>(matrix.num_messages(), 0), 1);
}

// 000 fig. 1 (b) on a line: P3 -> P8 and P4 -> P5 share edge 4-5.
TEST(LinkContention, Of000Figure1) {
  const CommMatrix matrix = test::matrix_of(9, {{3, 8, 10}, {4, 5, 10}});
  const auto line = make_topology("mesh:9");
  const auto violation = find_link_contention(at_once(matrix), 0, *line);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation_name(violation->kind), "link_contention");
  EXPECT_EQ(
      violation->text,
      "phase 0: transfers rank 3 -> rank 8 and rank 4 -> rank 5 share link 4 of mesh:9 (rank 4 -> rank 5), "
      "which carries 1 at a time");
  EXPECT_EQ(violation->link, 4);
  EXPECT_EQ(violation->src, 4);
  EXPECT_EQ(violation->other_dst, 8);
  EXPECT_EQ(violation->phase, 0U);

  EXPECT_FALSE(check(matrix, at_once(matrix), direct | one_port));
  EXPECT_EQ(check(matrix, at_once(matrix), direct | one_port | link_free, line.get())->text, violation->text);
  const Schedule apart = make_schedule({.matrix = matrix, .topology = line.get()}, "rs_nl");
  EXPECT_EQ(apart.num_phases(), 2U);
  EXPECT_FALSE(check(matrix, apart, link_free, line.get()));
}

TEST(LinkContention, AppearsWhereOneTransferIsTooMany) {
  // Out of a cluster of four of the CM-5 two may go at a time.
  const auto cm5 = make_topology("cm5:16");
  const CommMatrix two = test::matrix_of(16, {{0, 4, 1}, {1, 5, 1}});
  const CommMatrix three = test::matrix_of(16, {{0, 4, 1}, {1, 5, 1}, {2, 10, 1}});
  EXPECT_FALSE(find_link_contention(at_once(two), 0, *cm5));
  const auto violation = find_link_contention(at_once(three), 0, *cm5);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->src, 2);
  EXPECT_EQ(violation->other_src, 1);
  EXPECT_NE(violation->text.find("(switch 0 -> switch 4), which carries 2 at a time"), std::string::npos)
      << violation->text;
}

TEST(LinkContention, IsFoundInTheFirstPhaseThatHasIt) {
  const CommMatrix matrix = test::matrix_of(4, {{0, 1, 1}, {0, 3, 1}, {1, 2, 1}});
  const auto line = make_topology("mesh:4");
  const Schedule schedule = Schedule::of_whole_messages(matrix, std::vector<PhaseId>{0, 1, 1}, 2);
  const auto violation = check(matrix, schedule, link_free, line.get());
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->phase, 1U);
  EXPECT_EQ(violation->link, 1);
}

TEST(LinkContention, WithoutATopologyOrWithASmallerOneIsAnError) {
  const CommMatrix matrix = test::matrix_of(4, {{0, 1, 1}});
  const auto line = make_topology("mesh:3");
  EXPECT_ERROR(check(matrix, at_once(matrix), link_free), ErrorCode::invalid_argument, {"only", "topology"});
  EXPECT_ERROR(check(matrix, at_once(matrix), link_free, line.get()), ErrorCode::mismatch,
               {"topology mesh:3 has 3 ranks", "4"});
  EXPECT_ERROR(find_link_contention(at_once(matrix), 0, *line), ErrorCode::mismatch, {"mesh:3"});
  EXPECT_ERROR(link_bounds(matrix, *line), ErrorCode::mismatch, {"mesh:3", "the matrix has 4"});
  EXPECT_ERROR(make_schedule({.matrix = matrix, .topology = line.get()}, "rs_nl"), ErrorCode::not_applicable,
               {"topology mesh:3 has 3 ranks, the matrix has 4"});
  EXPECT_ERROR(make_schedule(matrix, "rs_nlh"), ErrorCode::not_applicable, {"needs a network"});
}

TEST(LinkContention, AgreesWithASecondJudge) {
  for (const char* spec : {"hypercube:4", "mesh:4x4", "torus:5x4", "fattree:4x4/2", "cm5:16", "tree:2x8/2"}) {
    const auto net = make_topology(spec);
    for (const auto& [name, matrix] : test::random_matrices()) {
      if (matrix.num_ranks() > 16) continue;
      for (const char* row : {"rs_n", "lp", "ac"}) {
        const Schedule schedule = make_schedule(matrix, row, 3);
        const bool found = check(matrix, schedule, link_free, net.get()).has_value();
        ASSERT_EQ(found, test::worst_excess(schedule, *net) > 0) << spec << ", " << name << ", " << row;
      }
    }
  }
}

// --- Bounds ------------------------------------------------------------------------------------------------

TEST(LinkBounds, OfABottleneck) {
  // Six ranks on a line, all of the left half to all of the right half: nine
  // messages over the link in the middle.
  std::vector<Message> messages;
  for (Rank src = 0; src < 3; ++src) {
    for (Rank dst = 3; dst < 6; ++dst) messages.push_back({src, dst, 10 + src});
  }
  const CommMatrix matrix = test::matrix_of(6, messages);
  const auto line = make_topology("mesh:6");
  const LinkBounds bounds = link_bounds(matrix, *line);
  EXPECT_EQ(bounds.phases, 9);
  EXPECT_EQ(bounds.phases_at, 2);
  EXPECT_EQ(bounds.bytes, 3 * (10 + 11 + 12));
  EXPECT_EQ(bounds.bytes_at, 2);
  EXPECT_EQ(lower_bounds(matrix).max_degree, 3U);
  // As two leaves of a tree that is thinned 2 : 1 (capacity 1.5) and not at all (capacity 3).
  EXPECT_EQ(link_bounds(matrix, *make_topology("tree:3x2/2")).phases, 9);
  EXPECT_EQ(link_bounds(matrix, *make_topology("tree:3x2")).phases, 3);
  EXPECT_EQ(link_bounds(matrix, *make_topology("tree:3x2")).bytes, 33);
  EXPECT_EQ(link_bounds(matrix, *make_topology("crossbar:6")).phases, 0);
  EXPECT_EQ(link_bounds(matrix, *make_topology("crossbar:6")).phases_at, no_link);
}

TEST(LinkRounds, CountWhatWaits) {
  const CommMatrix matrix = test::matrix_of(16, {{0, 4, 1}, {1, 5, 1}, {2, 10, 1}, {3, 11, 1}, {4, 0, 1}});
  const auto cm5 = make_topology("cm5:16");
  EXPECT_EQ(link_rounds(at_once(matrix), *cm5), 2) << "four out of a cluster, two at a time";
  EXPECT_EQ(link_rounds(at_once(matrix), *make_topology("crossbar:16")), 1);
  EXPECT_EQ(link_rounds(Schedule(16), *cm5), 0);
  const Schedule apart = make_schedule({.matrix = matrix, .topology = cm5.get()}, "rs_nl");
  EXPECT_EQ(link_rounds(apart, *cm5), apart.num_phases());
  EXPECT_ERROR(link_rounds(at_once(matrix), *make_topology("mesh:3")), ErrorCode::mismatch, {"mesh:3"});
}

// --- Rows --------------------------------------------------------------------------------------------------

std::vector<std::string_view> link_free_rows() {
  std::vector<std::string_view> names;
  for (const Scheduler& scheduler : schedulers()) {
    if ((scheduler.guarantees & link_free) != 0) names.push_back(scheduler.name);
  }
  return names;
}

class LinkFree : public testing::TestWithParam<std::string_view> {};

std::vector<test::NamedMatrix> matrices_for_networks() {
  std::vector<test::NamedMatrix> all = test::extreme_matrices();
  for (test::NamedMatrix& named : test::random_matrices()) all.push_back(std::move(named));
  all.push_back({"zipf", test::with_zipf_sizes(random_regular(64, 20, {}, 3), 0.8, 1'000'000, 7)});
  std::erase_if(all, [](const auto& named) { return named.matrix.num_ranks() > 64; });
  return all;
}

TEST_P(LinkFree, OnEveryNetwork) {
  const Scheduler& row = find_scheduler(GetParam());
  const std::vector<test::NamedMatrix> matrices = matrices_for_networks();
  for (const char* spec : {"crossbar:64", "hypercube:6", "mesh:8x8", "torus:4x4x4", "mesh:65",
                           "fattree:8x8/2", "fattree:4x4x4", "tree:8x8/16", "cm5:64"}) {
    const auto net = make_topology(spec);
    for (const auto& [name, matrix] : matrices) {
      SCOPED_TRACE(std::string(spec) + ", " + name);
      const Problem problem{.matrix = matrix, .seed = 5, .topology = net.get()};
      ASSERT_EQ(row.why_not(problem), "");
      const Schedule schedule = row.make(problem);
      const auto violation = check(matrix, schedule, row.guarantees, net.get());
      ASSERT_FALSE(violation) << violation->text;
      ASSERT_LE(test::worst_excess(schedule, *net), 0);
      const LinkBounds bounds = link_bounds(matrix, *net);  // of the network's routes
      ASSERT_TRUE(schedule.has_paths() || schedule.num_phases() >= bounds.phases);
      ASSERT_TRUE(schedule.has_paths() || phase_bytes(schedule) >= bounds.bytes);
      ASSERT_EQ(link_rounds(schedule, *net), schedule.num_phases());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, LinkFree, testing::ValuesIn(link_free_rows()),
                         [](const auto& row) { return std::string(row.param); });

// On a crossbar no link is in the way: rs_nl is rs_n.
TEST(RsNl, IsRsNOnACrossbar) {
  const auto net = make_topology("crossbar:64");
  const CommMatrix matrix = random_regular(64, 16, {}, 3);
  EXPECT_EQ(make_schedule({.matrix = matrix, .seed = 9, .topology = net.get()}, "rs_nl"),
            make_schedule(matrix, "rs_n", 9));
  EXPECT_EQ(make_schedule({.matrix = matrix, .seed = 9, .topology = net.get()}, "rs_nlh"),
            make_schedule(matrix, "rs_nh", 9));
}

/// Transfers whose phase has the transfer back too.
std::size_t num_paired(const Schedule& schedule) {
  std::size_t paired = 0;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    std::set<std::pair<Rank, Rank>> ends;
    for (const Transfer& transfer : schedule.transfers(phase)) ends.insert({transfer.src, transfer.dst});
    for (const auto& [src, dst] : ends) paired += ends.contains({dst, src});
  }
  return paired;
}

TEST(RsNl, PairsWhereAsked) {
  std::vector<Message> messages;  // symmetric: a rank that sends also receives
  for (const Message& message : random_density(64, 0.15, {}, 4).entries()) {
    if (message.src < message.dst) messages.insert(messages.end(), {message, {message.dst, message.src, 1}});
  }
  const CommMatrix matrix = test::matrix_of(64, messages);
  for (const char* spec : {"hypercube:6", "torus:8x8", "fattree:8x8/2"}) {
    const auto net = make_topology(spec);
    Problem problem{.matrix = matrix, .seed = 2, .topology = net.get()};
    const Schedule alone = make_schedule(problem, "rs_nl");
    problem.prefer_pairs = true;
    const Schedule paired = make_schedule(problem, "rs_nl");
    EXPECT_FALSE(check(matrix, paired, direct | one_port | link_free, net.get()));
    EXPECT_EQ(num_paired(paired), matrix.num_messages()) << spec;
    EXPECT_LT(num_paired(alone), matrix.num_messages() / 2) << spec;
  }
}

// Sizes of the two ways differ, so what one of them has left goes alone.
TEST(RsNh, PairsWhereAsked) {
  std::vector<Message> messages;
  Bytes units = 1;
  for (const Message& message : random_density(64, 0.15, {}, 4).entries()) {
    if (message.src >= message.dst) continue;
    for (const auto& [src, dst] : {std::pair{message.src, message.dst}, {message.dst, message.src}})
      messages.push_back({src, dst, 100 * (units = units * 7 % 31)});
  }
  const CommMatrix matrix = test::matrix_of(64, messages);
  const auto net = make_topology("hypercube:6");
  for (const char* name : {"rs_nh", "rs_nlh"}) {
    Problem problem{.matrix = matrix, .seed = 2, .topology = net.get()};
    const Schedule alone = make_schedule(problem, name);
    problem.prefer_pairs = true;
    const Schedule paired = make_schedule(problem, name);
    EXPECT_FALSE(check(matrix, paired, find_scheduler(name).guarantees, net.get())) << name;
    EXPECT_GT(num_paired(paired), 4 * num_paired(alone)) << name;
    EXPECT_GT(num_paired(paired), matrix.num_messages() / 2) << name;
  }
}

TEST(PlanFile, RecordsTheTopology) {
  const CommMatrix matrix = test::table1_of_004(100);
  const auto net = make_topology("mesh:4x2");
  const ScheduleRecord record{"rs_nl",
                              1,
                              direct | one_port | link_free,
                              matrix.fingerprint(),
                              make_schedule({.matrix = matrix, .seed = 1, .topology = net.get()}, "rs_nl"),
                              net->name()};
  std::ostringstream out;
  write_schedule(out, record, matrix);
  EXPECT_NE(out.str().find("guarantees direct one_port link_free\ntopology mesh:4x2\nranks 8\n"),
            std::string::npos);
  std::istringstream in(out.str());
  const ScheduleRecord again = read_schedule(in, "x.plan", matrix);
  EXPECT_EQ(again.topology, "mesh:4x2");
  EXPECT_EQ(again.schedule, record.schedule);

  ScheduleRecord wrong = record;
  wrong.topology.clear();
  EXPECT_ERROR(write_schedule(out, wrong, matrix), ErrorCode::invalid_argument, {"must name its topology"});
  wrong = record;
  wrong.guarantees = direct;
  EXPECT_ERROR(write_schedule(out, wrong, matrix), ErrorCode::invalid_argument,
               {"only for schedules that are link_free"});
  std::string text = out.str();
  text.erase(text.find("topology"), std::string("topology mesh:4x2\n").size());
  std::istringstream without(text);
  EXPECT_ERROR(read_schedule(without, "x.plan", matrix), ErrorCode::parse,
               {"x.plan:5: expected \"topology TEXT\""});
  std::istringstream spaced(
      "nuice-schedule 1\nscheduler x\nseed 0\nguarantees link_free\ntopology file:a b.net\n"
      "ranks 8\nmatrix 0\n");
  EXPECT_ERROR(read_schedule(spaced, "y.plan", matrix), ErrorCode::mismatch, {"another matrix"});
}

}  // namespace
}  // namespace nuice
