// SPDX-License-Identifier: BSD-3-Clause
// Laws that every row of the table of schedulers keeps, on every matrix. A new row is tested by being there.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "nuice/nuice.hpp"
#include "support/matrices.hpp"
#include "support/oracle.hpp"
#include "support/sizes.hpp"
#include "support/topologies.hpp"

namespace nuice {
namespace {

using test::NamedMatrix;

class Law : public testing::TestWithParam<std::string_view> {
 protected:
  const Scheduler& scheduler() const { return find_scheduler(GetParam()); }

  /// With a network where the row needs one; link_free_test.cpp tries such rows on many.
  Problem problem_for(const CommMatrix& matrix, std::uint64_t seed) const {
    return {.matrix = matrix, .seed = seed, .topology = test::network_for(scheduler(), matrix.num_ranks())};
  }
  std::optional<Violation> find_violation(const CommMatrix& matrix, const Schedule& schedule) const {
    return check(matrix, schedule, scheduler().guarantees, problem_for(matrix, 0).topology);
  }

  /// Of those whose schedules do not depend on it (SeedMattersOnlyWhereItSaysSo) one will do.
  std::vector<std::uint64_t> seeds() const {
    return scheduler().randomized ? std::vector<std::uint64_t>{0, 12345} : std::vector<std::uint64_t>{12345};
  }

  /// Calls body(matrix, seed, schedule) for every matrix the scheduler handles.
  template <typename Body>
  void for_every_schedule(const std::vector<NamedMatrix>& matrices, Body body) const {
    int made = 0;
    for (const auto& [name, matrix] : matrices) {
      for (const std::uint64_t seed : seeds()) {
        const Problem problem = problem_for(matrix, seed);
        if (!scheduler().why_not(problem).empty()) continue;
        SCOPED_TRACE(name + ", seed " + std::to_string(seed));
        body(matrix, seed, scheduler().make(problem));
        ++made;
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    EXPECT_GT(made, 0) << "the scheduler refused every matrix";
  }
};

std::string text_of(const CommMatrix& matrix, const Schedule& schedule) {
  std::ostringstream out;
  write_schedule(out, {.scheduler = "x", .matrix_fingerprint = matrix.fingerprint(), .schedule = schedule},
                 matrix);
  return out.str();
}

void agrees_with_a_second_judge(const CommMatrix& matrix, const Schedule& schedule, unsigned guarantees) {
  SCOPED_TRACE("a second judge");
  if (lower_bounds(matrix).total_bytes > 100'000) return;
  ASSERT_EQ(test::follow_every_byte(matrix, schedule), "");
  if ((guarantees & one_port) != 0) {
    ASSERT_FALSE(test::has_node_contention(schedule));
  }
}

void stays_within_the_bounds(const CommMatrix& matrix, const Schedule& schedule, unsigned guarantees) {
  SCOPED_TRACE("bounds");
  if ((guarantees & one_port) == 0) return;
  const Bounds bounds = lower_bounds(matrix);
  // Each byte passes its source's port and its destination's, forwarded or not.
  ASSERT_GE(phase_bytes(schedule), bounds.max_port_bytes);
  if (schedule.num_transfers() == matrix.num_messages()) {  // none is split
    ASSERT_GE(phase_bytes(schedule), whole_message_bytes(matrix));
  }
  // A forwarded transfer carries several messages, so a rank may need fewer than it has.
  if ((guarantees & direct) == 0) return;
  ASSERT_GE(schedule.num_phases(), bounds.max_degree);
  if ((guarantees & fewest_phases) != 0) {
    ASSERT_EQ(schedule.num_phases(), bounds.max_degree);
  }
  if ((guarantees & fewest_bytes) != 0) {
    ASSERT_EQ(phase_bytes(schedule), bounds.max_port_bytes);
  }
}

void no_phase_is_empty(const Schedule& schedule) {
  SCOPED_TRACE("empty phases");
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    ASSERT_GT(schedule.transfers(phase).size(), 0U);
}

using Line = std::tuple<PhaseId, Rank, Rank, Rank, Rank, Bytes, Bytes>;  // phase, hop, message, offset, bytes

/// One line for each piece of a send or receive.
void add_lines(std::vector<Line>& lines, const PhaseTable& table, PhaseId phase, Part whole,
               PartRange parts) {
  const auto pieces = parts.count > 0 ? table.parts_in(parts) : std::span<const Part>(&whole, 1);
  for (const Part& part : pieces)
    lines.emplace_back(phase, whole.src, whole.dst, part.src, part.dst, part.offset, part.bytes);
}

std::vector<Line> sorted(std::vector<Line> lines) {
  std::ranges::sort(lines);
  return lines;
}

/// Whether the slices of all ranks hold exactly the schedule's transfers, seen from both ends.
void slices_reassemble(const CommMatrix& matrix, const Schedule& schedule) {
  SCOPED_TRACE("slices");
  std::vector<Line> whole;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      for (const Piece& piece : transfer.pieces) {
        whole.emplace_back(phase, transfer.src, transfer.dst, matrix.src(piece.message),
                           matrix.dst(piece.message), piece.offset, piece.bytes);
      }
    }
  }
  std::vector<Line> sends;
  std::vector<Line> receives;
  const std::vector<PhaseTable> tables = slice_all(matrix, schedule);
  for (const PhaseTable& table : tables) {
    // slice() reads the whole schedule: beyond a few ranks every seventh is enough.
    if (table.num_ranks <= 8 || table.rank % 7 == 0) {
      ASSERT_EQ(table, slice(matrix, schedule, table.rank));
    }
    for (const PhaseEntry& entry : table.entries) {
      if (entry.send_partner != no_rank) {
        const Part send{table.rank, entry.send_partner, entry.send_offset, entry.send_bytes};
        add_lines(sends, table, entry.phase, send, entry.send_parts);
      }
      if (entry.recv_partner != no_rank) {
        const Part receive{entry.recv_partner, table.rank, entry.recv_offset, entry.recv_bytes};
        add_lines(receives, table, entry.phase, receive, entry.recv_parts);
      }
    }
  }
  whole = sorted(std::move(whole));
  ASSERT_EQ(sorted(std::move(sends)), whole);
  ASSERT_EQ(sorted(std::move(receives)), whole);
}

/// Each schedule is made once for all of these laws, and once more for the last.
TEST_P(Law, AllHoldOnEveryMatrix) {
  for_every_schedule(
      test::all_matrices(), [this](const CommMatrix& matrix, std::uint64_t seed, const Schedule& schedule) {
        const auto violation = find_violation(matrix, schedule);
        ASSERT_FALSE(violation) << violation->text;
        ASSERT_NO_FATAL_FAILURE(agrees_with_a_second_judge(matrix, schedule, scheduler().guarantees));
        ASSERT_NO_FATAL_FAILURE(stays_within_the_bounds(matrix, schedule, scheduler().guarantees));
        ASSERT_NO_FATAL_FAILURE(no_phase_is_empty(schedule));
        ASSERT_NO_FATAL_FAILURE(slices_reassemble(matrix, schedule));
        const std::string text = text_of(matrix, schedule);
        std::istringstream in(text);
        ASSERT_EQ(read_schedule(in, "x.plan", matrix).schedule, schedule);
        const CommMatrix copy = matrix;
        ASSERT_EQ(text, text_of(copy, scheduler().make(problem_for(copy, seed)))) << "made twice";
      });
}

TEST_P(Law, HoldsForSizesThatDifferMuch) {
  for_every_schedule(test::sized_matrices(),
                     [this](const CommMatrix& matrix, std::uint64_t, const Schedule& schedule) {
                       const auto violation = find_violation(matrix, schedule);
                       ASSERT_FALSE(violation) << violation->text;
                     });
}

TEST_P(Law, OrderOfEntriesDoesNotMatter) {
  for_every_schedule(test::random_matrices(),
                     [this](const CommMatrix& matrix, std::uint64_t seed, const Schedule& schedule) {
                       std::vector<Message> entries = matrix.entries();
                       Random(99).shuffle(std::span(entries));
                       const CommMatrix shuffled = CommMatrix::from_messages(matrix.num_ranks(), entries);
                       ASSERT_EQ(schedule, scheduler().make(problem_for(shuffled, seed)));
                     });
}

TEST_P(Law, SeedMattersOnlyWhereItSaysSo) {
  const CommMatrix matrix = random_regular(64, 16, {}, 3);
  const bool differs = scheduler().make(problem_for(matrix, 1)) != scheduler().make(problem_for(matrix, 2));
  EXPECT_EQ(differs, scheduler().randomized);
}

INSTANTIATE_TEST_SUITE_P(Table, Law, testing::ValuesIn(test::scheduler_names()),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace nuice
