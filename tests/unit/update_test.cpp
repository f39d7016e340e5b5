// SPDX-License-Identifier: BSD-3-Clause
// Laws of a schedule that follows its matrix: after every batch the full checker finds the matrix that was asked for,
// the check of the change alone finds nothing, and there are as many phases as promised.
#include "nuice/plan/dynamic_schedule.hpp"

#include <algorithm>
#include <map>

#include "nuice/nuice.hpp"
#include "support/matrices.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

using Pair = std::pair<Rank, Rank>;

/// What the matrix should be, kept in the plainest way.
class Expected {
 public:
  explicit Expected(const CommMatrix& matrix) : num_ranks_(matrix.num_ranks()) {
    for (const Message& entry : matrix.entries()) bytes_[{entry.src, entry.dst}] = entry.bytes;
  }
  void apply(std::span<const Message> changes) {
    for (const Message& change : changes) bytes_[{change.src, change.dst}] = change.bytes;
  }
  CommMatrix matrix() const {
    std::vector<Message> messages;
    for (const auto& [ends, bytes] : bytes_) messages.push_back({ends.first, ends.second, bytes});
    return CommMatrix::from_messages(num_ranks_, messages);
  }

 private:
  Rank num_ranks_;
  std::map<Pair, Bytes> bytes_;
};

/// `count` entries or fewer, `removals` of 10 of them to nothing.
std::vector<Message> random_changes(Rank num_ranks, int count, std::uint64_t removals, Random& random) {
  std::map<Pair, Message> changes;
  const auto n = static_cast<std::uint64_t>(num_ranks);
  for (int i = 0; i < count; ++i) {
    const auto src = static_cast<Rank>(random.below(n));
    const auto dst = static_cast<Rank>(random.below(n));
    const bool removed = random.below(10) < removals;
    changes[{src, dst}] = {src, dst, removed ? 0 : static_cast<Bytes>(1 + random.below(100))};
  }
  std::vector<Message> list;
  for (const auto& [ends, change] : changes) list.push_back(change);
  return list;
}

void expect_right(const DynamicSchedule& live, const CommMatrix& expected) {
  const CommMatrix matrix = live.matrix();
  ASSERT_EQ(matrix, expected);
  ASSERT_EQ(live.num_messages(), matrix.num_messages());
  ASSERT_EQ(live.max_degree(), lower_bounds(matrix).max_degree);
  const Schedule schedule = live.schedule(matrix);
  ASSERT_EQ(schedule.num_phases(), live.num_phases());
  const unsigned fewest = live.phases_above_max_degree() == 0 ? fewest_phases : 0U;
  const auto violation = check(matrix, schedule, direct | one_port | fewest);
  ASSERT_FALSE(violation) << violation->text;
  ASSERT_FALSE(live.check_changes()) << live.check_changes()->text;
  const auto tables = slice_all(matrix, schedule);
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank)
    ASSERT_EQ(live.table(rank), tables[static_cast<std::size_t>(rank)]);
}

TEST(DynamicSchedule, FollowsEveryMatrixFromEveryKindOfPlan) {
  for (const auto& [name, matrix] : test::all_matrices()) {
    if (matrix.num_ranks() < 2 || lower_bounds(matrix).total_bytes > max_bytes / 2) continue;
    for (const char* scheduler : {"coloring", "rs_n", "lp"}) {
      for (const int count : {1, 5, 60}) {
        SCOPED_TRACE(name + ", " + scheduler + ", " + std::to_string(count));
        Random random(static_cast<std::uint64_t>(count));
        DynamicSchedule live(matrix, make_schedule(matrix, scheduler));
        Expected expected(matrix);
        const auto changes = random_changes(matrix.num_ranks(), count, 3, random);
        live.apply(changes);
        expected.apply(changes);
        ASSERT_FALSE(live.check_changes());
        live.compact();
        EXPECT_EQ(live.phases_above_max_degree(), 0U);
        expect_right(live, expected.matrix());
      }
    }
  }
}

TEST(DynamicSchedule, FollowsLongSeriesOfBatches) {
  struct Case {
    Rank num_ranks;
    int batch;
    std::uint64_t removals;  // of 10
  };
  for (const auto& [num_ranks, batch, removals] :
       {Case{2, 2, 5}, Case{7, 3, 5}, Case{30, 1, 5}, Case{30, 9, 4}, Case{30, 40, 7}, Case{65, 200, 6}}) {
    SCOPED_TRACE(std::to_string(num_ranks) + " ranks, " + std::to_string(batch) + " changes a batch");
    Random random(static_cast<std::uint64_t>(batch));
    const CommMatrix matrix = random_regular(num_ranks, std::min<Rank>(6, num_ranks - 1), {}, 2);
    DynamicSchedule live(matrix, make_schedule(matrix, "coloring"));
    Expected expected(matrix);
    for (int step = 0; step < 120; ++step) {
      const auto changes = random_changes(num_ranks, batch, removals, random);
      live.apply(changes);
      expected.apply(changes);
      expect_right(live, expected.matrix());
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

/// Messages that change places keep every degree: no rank has an idle phase, so every one needs a path.
TEST(DynamicSchedule, KeepsMaxDegreePhasesWhereAllRanksAreBusyInAll) {
  Random random(1);
  const Rank n = 64;
  const CommMatrix matrix = random_regular(n, 16, {}, 3);
  DynamicSchedule live(matrix, make_schedule(matrix, "coloring"));
  Expected expected(matrix);
  std::size_t moved = 0;
  for (int step = 0; step < 300; ++step) {
    const CommMatrix now = expected.matrix();
    const Message a = now.message(static_cast<MessageId>(random.below(now.num_messages())));
    const Message b = now.message(static_cast<MessageId>(random.below(now.num_messages())));
    if (a.src == b.dst || b.src == a.dst || now.find(a.src, b.dst) || now.find(b.src, a.dst)) continue;
    const Message changes[] = {
        {a.src, a.dst, 0}, {b.src, b.dst, 0}, {a.src, b.dst, a.bytes}, {b.src, a.dst, b.bytes}};
    const Update update = live.apply(changes);
    EXPECT_EQ(update.added, 2U);
    EXPECT_EQ(update.removed, 2U);
    moved += update.moved;
    expected.apply(changes);
    ASSERT_EQ(live.num_phases(), 16U);
    ASSERT_FALSE(live.check_changes());
  }
  EXPECT_GT(moved, 100U);
  expect_right(live, expected.matrix());
}

/// From one regular matrix to another: every message needs a path, so planning again is cheaper.
TEST(DynamicSchedule, PlansAnewWherePathsCostMore) {
  const CommMatrix before = random_regular(200, 12, {}, 1);
  const CommMatrix after = random_regular(200, 12, {}, 2);
  std::vector<Message> changes = after.entries();
  for (const Message& entry : before.entries()) {
    if (!after.find(entry.src, entry.dst)) changes.push_back({entry.src, entry.dst, 0});
  }
  DynamicSchedule live(before, make_schedule(before, "coloring"));
  const Update update = live.apply(changes);
  EXPECT_TRUE(update.planned_anew);
  EXPECT_EQ(live.num_phases(), 12U);
  EXPECT_EQ(live.changed_ranks().size(), 200U);
  expect_right(live, after);
  live.set(0, 1, 50);
  EXPECT_LE(live.changed_ranks().size(), 60U) << "the next change is a small one again";
  expect_right(live, live.matrix());

  DynamicSchedule wide(before, make_schedule(before, "lp"));
  EXPECT_GT(wide.phases_above_max_degree(), 100U);
  EXPECT_GT(wide.compact(), 0U);
  EXPECT_EQ(wide.num_phases(), 12U);
  expect_right(wide, before);
}

TEST(DynamicSchedule, NewSizesMoveNothing) {
  const CommMatrix matrix = random_regular(40, 9, {}, 1);
  const Schedule schedule = make_schedule(matrix, "coloring");
  DynamicSchedule live(matrix, schedule);
  EXPECT_EQ(live.schedule(matrix), schedule);
  EXPECT_EQ(live.apply({}), Update{});
  std::vector<Message> changes;
  for (MessageId id = 0; id < 50; ++id) changes.push_back({matrix.src(id), matrix.dst(id), 77});
  EXPECT_EQ(live.apply(changes), (Update{.resized = 50}));
  EXPECT_EQ(live.apply(changes), Update{}) << "they have that size already";
  const CommMatrix after = live.matrix();
  const Schedule updated = live.schedule(after);
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    const auto before_phase = schedule.transfers(phase);
    const auto after_phase = updated.transfers(phase);
    ASSERT_EQ(before_phase.size(), after_phase.size());
    for (std::size_t i = 0; i < before_phase.size(); ++i) EXPECT_EQ(before_phase[i].dst, after_phase[i].dst);
  }
  Expected expected(matrix);
  expected.apply(changes);
  expect_right(live, expected.matrix());
}

/// One hot rank among others: when it loses messages, the phases above the new maximum degree drain at
/// moves_per_change messages a change, and not at once.
TEST(DynamicSchedule, PhasesAboveTheMaximumDegreeAreEmptiedLittleByLittle) {
  std::vector<Message> messages = random_regular(40, 10, {}, 1).entries();
  std::erase_if(messages, [](const Message& m) { return m.src == 0; });
  for (Rank dst = 1; dst < 40; ++dst) messages.push_back({0, dst, 5});
  const CommMatrix matrix = CommMatrix::from_messages(40, messages);
  DynamicSchedule live(matrix, make_schedule(matrix, "coloring"));
  Expected expected(matrix);
  ASSERT_EQ(live.num_phases(), 39U);
  for (Rank dst = 1; dst < 40; ++dst) {
    const Message change{0, dst, 0};
    EXPECT_LE(live.apply({&change, 1}).moved, DynamicSchedule::moves_per_change * 20) << "a few paths";
    expected.apply({&change, 1});
    expect_right(live, expected.matrix());
  }
  EXPECT_GT(live.phases_above_max_degree(), 0U);
  const PhaseId above = live.phases_above_max_degree();
  live.set(1, 1, 3);
  EXPECT_EQ(live.phases_above_max_degree(), above) << "a message to itself pays for nothing";
  live.compact();
  EXPECT_EQ(live.phases_above_max_degree(), 0U);
  EXPECT_EQ(live.compact(), 0U);
}

TEST(DynamicSchedule, GrowsFromNothingAndShrinksToNothing) {
  const CommMatrix nothing = test::matrix_of(6, {});
  DynamicSchedule live(nothing, Schedule(6));
  for (Rank src = 0; src < 6; ++src) {
    for (Rank dst = 0; dst < 6; ++dst) live.set(src, dst, 4);
  }
  EXPECT_EQ(live.num_phases(), 5U) << "complete exchange";
  EXPECT_EQ(live.matrix().self_bytes(3), 4);
  for (Rank src = 0; src < 6; ++src) {
    for (Rank dst = 0; dst < 6; ++dst) live.set(src, dst, 0);
  }
  EXPECT_EQ(live.num_phases(), 0U);
  EXPECT_EQ(live.max_degree(), 0U);
  expect_right(live, nothing);
}

TEST(DynamicSchedule, ChangedRanksAreThoseWhoseTablesChanged) {
  Random random(4);
  const CommMatrix matrix = random_regular(50, 8, {}, 2);
  DynamicSchedule live(matrix, make_schedule(matrix, "coloring"));
  for (int step = 0; step < 50; ++step) {
    std::vector<PhaseTable> before;
    for (Rank rank = 0; rank < 50; ++rank) before.push_back(live.table(rank));
    live.apply(random_changes(50, 3, 3, random));
    const auto changed = live.changed_ranks();
    for (Rank rank = 0; rank < 50; ++rank) {
      PhaseTable now = live.table(rank);
      now.num_phases = before[static_cast<std::size_t>(rank)].num_phases;
      const bool may_differ = std::ranges::binary_search(changed, rank);
      EXPECT_TRUE(may_differ || now == before[static_cast<std::size_t>(rank)]) << "rank " << rank;
    }
  }
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
  const DynamicSchedule live(matrix, make_schedule(matrix, "coloring"));
  EXPECT_ERROR(live.schedule(test::all_to_one(5, 0)), ErrorCode::mismatch, {"5 ranks", "4"});
  EXPECT_ERROR(live.schedule(test::all_to_one(4, 1)), ErrorCode::mismatch, {"rank"});
  EXPECT_ERROR(live.table(4), ErrorCode::invalid_argument, {"rank 4", "0 to 3"});
}

TEST(DynamicSchedule, ABadBatchChangesNothing) {
  const CommMatrix matrix = test::all_to_one(4, 0);
  const Schedule schedule = make_schedule(matrix, "coloring");
  DynamicSchedule live(matrix, schedule);
  live.set(1, 1, 9);
  const CommMatrix before = live.matrix();
  const auto refused = [&](std::vector<Message> changes, ErrorCode code,
                           std::initializer_list<std::string> words) {
    changes.insert(changes.begin(), {{1, 2, 7}, {2, 0, 0}});
    EXPECT_ERROR(live.apply(changes), code, words);
    expect_right(live, before);
    EXPECT_EQ(live.schedule(before), DynamicSchedule(matrix, schedule).schedule(matrix));
  };
  refused({{0, 4, 1}}, ErrorCode::invalid_argument, {"rank 0 -> rank 4"});
  refused({{-1, 2, 1}}, ErrorCode::invalid_argument, {"rank -1 -> rank 2"});
  refused({{0, 1, -1}}, ErrorCode::invalid_argument, {"rank 0 -> rank 1", "-1"});
  refused({{0, 1, max_bytes + 1}}, ErrorCode::limit, {"rank 0 -> rank 1"});
  refused({{1, 2, 7}}, ErrorCode::invalid_argument, {"rank 1 -> rank 2", "given twice"});
  refused({{3, 3, 1}, {3, 3, 2}}, ErrorCode::invalid_argument, {"rank 3 -> rank 3", "given twice"});
  refused({{0, 1, max_bytes}}, ErrorCode::limit, {"rank 0 -> rank 1", "in all"});
  refused({{0, 0, max_bytes}}, ErrorCode::limit, {"rank 0 -> rank 0", "in all"});
  EXPECT_ERROR(live.set(0, 1, -1), ErrorCode::invalid_argument, {"-1"});
  // What leaves room in the same batch counts, wherever it stands in it.
  std::vector<Message> all_but_one{{0, 1, max_bytes}, {1, 1, 0}};
  for (MessageId id = 0; id < matrix.num_messages(); ++id)
    all_but_one.push_back({matrix.src(id), matrix.dst(id), 0});
  live.apply(all_but_one);
  EXPECT_EQ(live.matrix(), test::matrix_of(4, {{0, 1, max_bytes}}));
}

}  // namespace
}  // namespace nuice
