// SPDX-License-Identifier: BSD-3-Clause
// Small worked examples, kept as files in tests/golden. NUICE_UPDATE_GOLDEN=1 rewrites them: read the diff.
#include <gtest/gtest.h>

#include <sstream>

#include "nuice/nuice.hpp"
#include "support/golden.hpp"
#include "support/matrices.hpp"
#include "support/sizes.hpp"
#include "support/topologies.hpp"

namespace nuice {
namespace {

/// The phase table of every rank, one line per entry, in the papers' order of fields.
std::string table_text(const CommMatrix& matrix, const Schedule& schedule) {
  std::ostringstream out;
  for (const PhaseTable& table : slice_all(matrix, schedule)) {
    out << "rank " << table.rank << " sources";
    for (const Partner& source : table.sources) out << ' ' << source.rank << ':' << source.bytes;
    out << "\nphase s_partner s_len s_offset r_partner r_len r_offset\n";
    for (const PhaseEntry& e : table.entries) {
      out << e.phase << ' ' << e.send_partner << ' ' << e.send_bytes << ' ' << e.send_offset << ' '
          << e.recv_partner << ' ' << e.recv_bytes << ' ' << e.recv_offset << '\n';
    }
  }
  return out.str();
}

// The 8 x 8 matrix of 004 table 1, by every scheduler. The files are checked by hand for lp (phase k: i xor
// k+1) and hold for every platform for the random ones.
TEST(Golden, EverySchedulerOn004Table1) {
  const CommMatrix matrix = test::table1_of_004(100);
  std::ostringstream mtx;
  write_matrix_market(mtx, matrix, "004 table 1, 100 bytes a message");
  test::compare_with_golden("004_table1.mtx", mtx.str());
  for (const Scheduler& scheduler : schedulers()) {
    if (!scheduler.alias_of.empty()) {
      EXPECT_EQ(scheduler.make, find_scheduler(scheduler.alias_of).make) << scheduler.name;
      continue;
    }
    const Topology* topology = test::network_for(scheduler, 8);
    const Problem problem{.matrix = matrix, .seed = 1, .topology = topology};
    std::ostringstream out;
    write_schedule(out,
                   {std::string(scheduler.name), 1, scheduler.guarantees, matrix.fingerprint(),
                    scheduler.make(problem), topology != nullptr ? topology->name() : ""},
                   matrix);
    test::compare_with_golden("004_table1." + std::string(scheduler.name) + ".plan", out.str());
  }
}

// The example of docs/explanation/algorithms/few-bytes.md: the same messages with sizes that differ.
TEST(Golden, FewBytes) {
  const CommMatrix matrix = test::with_uniform_sizes(test::table1_of_004(), 20, 5);
  EXPECT_EQ(lower_bounds(matrix).max_degree, 5U);
  EXPECT_EQ(lower_bounds(matrix).max_port_bytes, 73);
  EXPECT_EQ(whole_message_bytes(matrix), 83);
  std::ostringstream mtx;
  write_matrix_market(mtx, matrix, "004 table 1 with sizes drawn from 1..20 bytes");
  test::compare_with_golden("few_bytes.mtx", mtx.str());
  struct Expected {
    const char* scheduler;
    PhaseId phases;
    Bytes bytes;
  };
  for (const auto& [name, phases, bytes] :
       {Expected{"coloring", 5, 95}, Expected{"lpt", 6, 91}, Expected{"coloring_by_size", 5, 83},
        Expected{"birkhoff", 16, 73}}) {
    const Schedule schedule = make_schedule(matrix, name);
    EXPECT_EQ(schedule.num_phases(), phases) << name;
    EXPECT_EQ(phase_bytes(schedule), bytes) << name;
    std::ostringstream out;
    write_schedule(out, {name, 0, find_scheduler(name).guarantees, matrix.fingerprint(), schedule}, matrix);
    test::compare_with_golden("few_bytes." + std::string(name) + ".plan", out.str());
  }
}

// The example of docs/explanation/algorithms/link-free.md: 004 table 1 on a torus of four by two.
TEST(Golden, LinkFree) {
  const CommMatrix matrix = test::table1_of_004(100);
  const auto torus = make_topology("torus:4x2");
  EXPECT_EQ(lower_bounds(matrix).max_degree, 5U);
  EXPECT_EQ(link_bounds(matrix, *torus).phases, 5);
  EXPECT_EQ(link_rounds(make_schedule(matrix, "coloring"), *torus), 8);
  for (const auto& [name, phases] : {std::pair{"rs_nl", 7U}, std::pair{"link_coloring", 5U}}) {
    const Schedule schedule = make_schedule({.matrix = matrix, .seed = 1, .topology = torus.get()}, name);
    EXPECT_EQ(schedule.num_phases(), phases) << name;
    std::ostringstream out;
    write_schedule(out,
                   {name, 1, find_scheduler(name).guarantees, matrix.fingerprint(), schedule, torus->name()},
                   matrix);
    test::compare_with_golden("link_free." + std::string(name) + ".plan", out.str());
  }
}

TEST(Golden, PhaseTablesOn004Table1) {
  const CommMatrix matrix = test::table1_of_004(100);
  test::compare_with_golden("004_table1.lp.cpt", table_text(matrix, make_schedule(matrix, "lp")));
  test::compare_with_golden("004_table1.rs_n.cpt", table_text(matrix, make_schedule(matrix, "rs_n", 1)));
}

// 003 fig. 7 with n = 6, d = 3 before its rows and columns are exchanged: the band itself.
TEST(Golden, BandMatrixOf003Figure7) {
  std::vector<Message> messages;
  for (Rank j = 0; j < 6; ++j) {
    for (Rank i = 0; i < 3; ++i) messages.push_back({j, (i + j) % 6, 1});
  }
  const CommMatrix matrix = CommMatrix::from_messages(6, messages);
  EXPECT_EQ(matrix.num_messages(), 12U) << "18 entries, six of them on the diagonal";
  const Bounds bounds = lower_bounds(matrix);
  EXPECT_EQ(bounds.max_degree, 2U);
  EXPECT_EQ(make_schedule(matrix, "coloring").num_phases(), 2U);
}

// 000 fig. 1 (a): P1, P3, P5 and P7 send to P4 at the same time.
TEST(Golden, NodeContentionOf000Figure1) {
  const CommMatrix matrix = test::matrix_of(9, {{1, 4, 1}, {3, 4, 1}, {5, 4, 1}, {7, 4, 1}});
  const auto contention = find_node_contention(make_schedule(matrix, "ac"), 0);
  ASSERT_TRUE(contention);
  EXPECT_EQ(contention->kind, ViolationKind::two_receives);
  EXPECT_EQ(contention->dst, 4);
  const Schedule phases = make_schedule(matrix, "rs_n", 1);
  EXPECT_EQ(phases.num_phases(), 4U);
  for (PhaseId phase = 0; phase < 4; ++phase) EXPECT_FALSE(find_node_contention(phases, phase));
}

}  // namespace
}  // namespace nuice
