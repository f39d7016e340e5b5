// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/update.hpp"

#include <map>

#include "nuice/nuice.hpp"
#include "support/matrices.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

using Pair = std::pair<Rank, Rank>;

void expect_right(const CommMatrix& matrix, const Schedule& schedule, unsigned guarantees) {
  const auto violation = check(matrix, schedule, guarantees);
  ASSERT_FALSE(violation) << violation->text;
}

/// The phase of each message, if it is whole.
std::map<Pair, PhaseId> phases_of(const Schedule& schedule) {
  std::map<Pair, PhaseId> phases;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) phases[{transfer.src, transfer.dst}] = phase;
  }
  return phases;
}

/// `count` entries of the matrix set to new random sizes, a third of them to nothing.
CommMatrix changed(const CommMatrix& matrix, int count, std::uint64_t seed) {
  Random random(seed);
  std::map<Pair, Message> entries;
  for (const Message& entry : matrix.entries()) entries[{entry.src, entry.dst}] = entry;
  const auto n = static_cast<std::uint64_t>(matrix.num_ranks());
  for (int i = 0; i < count; ++i) {
    const auto src = static_cast<Rank>(random.below(n));
    const auto dst = static_cast<Rank>(random.below(n));
    entries[{src, dst}] = {src, dst, random.below(3) == 0 ? 0 : static_cast<Bytes>(1 + random.below(100))};
  }
  std::vector<Message> messages;
  for (const auto& [ends, message] : entries) messages.push_back(message);
  return CommMatrix::from_messages(matrix.num_ranks(), messages);
}

TEST(Update, NeedsTheNewMaximumDegree) {
  for (const auto& [name, matrix] : test::all_matrices()) {
    if (matrix.num_ranks() < 2 || lower_bounds(matrix).total_bytes > max_bytes / 2) continue;
    for (const char* scheduler : {"coloring", "rs_n", "lp"}) {
      for (const int count : {1, 5, 60}) {
        SCOPED_TRACE(name + ", " + scheduler + ", " + std::to_string(count));
        const CommMatrix after = changed(matrix, count, static_cast<std::uint64_t>(count));
        const Schedule schedule = update_schedule(matrix, make_schedule(matrix, scheduler), after);
        expect_right(after, schedule, direct | one_port | fewest_phases);
      }
    }
  }
}

TEST(Update, OfNothingChangesNothing) {
  const CommMatrix matrix = random_regular(40, 9, {}, 1);
  const Schedule schedule = make_schedule(matrix, "coloring");
  EXPECT_EQ(update_schedule(matrix, schedule, matrix), schedule);
}

TEST(Update, MessagesThatStayMostlyKeepTheirPhase) {
  const CommMatrix matrix = random_density(100, 0.2, {}, 1);
  const Schedule schedule = make_schedule(matrix, "coloring");
  const CommMatrix after = changed(matrix, 10, 3);
  const auto old_phases = phases_of(schedule);
  std::size_t moved = 0;
  for (const auto& [ends, phase] : phases_of(update_schedule(matrix, schedule, after))) {
    const auto before = old_phases.find(ends);
    if (before != old_phases.end() && before->second != phase) ++moved;
  }
  EXPECT_LT(moved, matrix.num_messages() / 20);
}

TEST(DynamicSchedule, FollowsALongSeriesOfChanges) {
  Random random(5);
  CommMatrix matrix = random_regular(30, 6, {}, 2);
  DynamicSchedule live(matrix, make_schedule(matrix, "coloring"));
  std::map<Pair, Bytes> expected;
  for (const Message& entry : matrix.entries()) expected[{entry.src, entry.dst}] = entry.bytes;
  for (int step = 0; step < 3000; ++step) {
    const auto src = static_cast<Rank>(random.below(30));
    const auto dst = static_cast<Rank>(random.below(30));
    const Bytes bytes = random.below(2) == 0 ? 0 : static_cast<Bytes>(1 + random.below(9));
    live.set(src, dst, bytes);
    expected[{src, dst}] = bytes;
    if (step % 100 != 0) continue;
    live.compact();
    matrix = live.matrix();
    EXPECT_EQ(live.num_phases(), lower_bounds(matrix).max_degree);
    EXPECT_EQ(live.max_degree(), lower_bounds(matrix).max_degree);
    expect_right(matrix, live.schedule(matrix), direct | one_port | fewest_phases);
    std::vector<Message> messages;
    for (const auto& [ends, size] : expected) messages.push_back({ends.first, ends.second, size});
    ASSERT_EQ(matrix, CommMatrix::from_messages(30, messages));
  }
}

TEST(DynamicSchedule, GrowsFromNothingAndShrinksToNothing) {
  const CommMatrix nothing = test::matrix_of(6, {});
  DynamicSchedule live(nothing, Schedule(6));
  for (Rank src = 0; src < 6; ++src) {
    for (Rank dst = 0; dst < 6; ++dst) live.set(src, dst, 4);
  }
  EXPECT_EQ(live.num_phases(), 5U) << "complete exchange";
  expect_right(live.matrix(), live.schedule(live.matrix()), direct | one_port | fewest_phases);
  EXPECT_EQ(live.matrix().self_bytes(3), 4);
  for (Rank src = 0; src < 6; ++src) {
    for (Rank dst = 0; dst < 6; ++dst) live.set(src, dst, 0);
  }
  EXPECT_EQ(live.num_phases(), 0U);
  EXPECT_EQ(live.max_degree(), 0U);
  EXPECT_EQ(live.matrix(), nothing);
}

TEST(DynamicSchedule, RefusesWhatItCannotFollow) {
  const CommMatrix matrix = test::all_to_one(4, 0);
  EXPECT_ERROR(DynamicSchedule(matrix, make_schedule(matrix, "ac")), ErrorCode::not_applicable,
               {"one_port", "rank 0"});
  EXPECT_ERROR(DynamicSchedule(matrix, Schedule(4)), ErrorCode::mismatch, {"still at rank 1"});
  Schedule split(4);
  for (MessageId id = 0; id < 3; ++id) {
    const Piece parts[] = {{id, 0, 5}, {id, 5, matrix.bytes(id) - 5}};
    split.begin_phase();
    split.add(matrix.src(id), 0, {parts, 1});
    split.begin_phase();
    split.add(matrix.src(id), 0, {parts + 1, 1});
  }
  EXPECT_ERROR(DynamicSchedule(matrix, split), ErrorCode::not_applicable, {"whole messages"});
  DynamicSchedule live(matrix, make_schedule(matrix, "coloring"));
  EXPECT_ERROR(live.set(0, 4, 1), ErrorCode::invalid_argument, {"rank 0 -> rank 4"});
  EXPECT_ERROR(live.set(0, 1, -1), ErrorCode::invalid_argument, {"rank 0 -> rank 1", "-1"});
  EXPECT_ERROR(live.set(0, 1, max_bytes + 1), ErrorCode::limit, {"rank 0 -> rank 1"});
  EXPECT_ERROR(update_schedule(matrix, make_schedule(matrix, "lp"), test::all_to_one(5, 0)),
               ErrorCode::mismatch, {"4 ranks", "5"});
}

}  // namespace
}  // namespace nuice
