// SPDX-License-Identifier: BSD-3-Clause
// What is special to the schedulers for few bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "nuice/nuice.hpp"
#include "support/matrices.hpp"
#include "support/sizes.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

/// Phase of every message by the rule itself: largest first, into the first phase with both ports free.
std::vector<PhaseId> first_fit_by_size(const CommMatrix& matrix) {
  std::vector<MessageId> ids(matrix.num_messages());
  for (MessageId id = 0; id < matrix.num_messages(); ++id) ids[id] = id;
  std::stable_sort(ids.begin(), ids.end(),
                   [&](MessageId a, MessageId b) { return matrix.bytes(a) > matrix.bytes(b); });
  std::set<std::pair<Rank, PhaseId>> sends;
  std::set<std::pair<Rank, PhaseId>> receives;
  std::vector<PhaseId> phase_of(ids.size());
  for (const MessageId id : ids) {
    PhaseId phase = 0;
    while (sends.contains({matrix.src(id), phase}) || receives.contains({matrix.dst(id), phase})) ++phase;
    sends.insert({matrix.src(id), phase});
    receives.insert({matrix.dst(id), phase});
    phase_of[id] = phase;
  }
  return phase_of;
}

MessageId largest_message(const CommMatrix& matrix) {
  const auto ids = std::views::iota(MessageId{0}, matrix.num_messages());
  return *std::ranges::max_element(ids, {}, [&](MessageId id) { return matrix.bytes(id); });
}

TEST(Lpt, IsFirstFitBySize) {
  for (const auto& [name, matrix] : test::sized_matrices()) {
    SCOPED_TRACE(name);
    const std::vector<PhaseId> phase_of = first_fit_by_size(matrix);
    const Schedule schedule = make_schedule(matrix, "lpt");
    for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
      for (const Transfer& transfer : schedule.transfers(phase)) {
        ASSERT_EQ(phase_of[transfer.pieces[0].message], phase) << transfer.src << " -> " << transfer.dst;
      }
    }
  }
}

// The most that first fit can need: 0 -> 1 has to wait for the larger messages of 0, then for those of 1.
TEST(Lpt, MayNeedTwiceTheDegreeMinusOnePhases) {
  const CommMatrix matrix = test::matrix_of(
      8, {{0, 1, 1}, {0, 2, 9}, {0, 3, 8}, {4, 1, 7}, {5, 1, 6}, {4, 6, 9}, {4, 7, 8}, {5, 6, 8}, {5, 7, 9}});
  EXPECT_EQ(lower_bounds(matrix).max_degree, 3U);
  EXPECT_EQ(make_schedule(matrix, "lpt").num_phases(), 5U);
}

TEST(Lpt, WaitsForAtMostTwiceTheWholeMessageBound) {
  for (const auto& [name, matrix] : test::sized_matrices()) {
    const Bytes fewest = whole_message_bytes(matrix);
    const Bytes largest = matrix.bytes(largest_message(matrix));
    const Bytes sum = phase_bytes(make_schedule(matrix, "lpt"));
    EXPECT_LE(sum - fewest, fewest - largest) << name;  // 2 * fewest may overflow
  }
}

TEST(Birkhoff, SplitsWhereItMustOnly) {
  // Two ranks exchange; everything fits into two phases without splitting.
  const CommMatrix even = test::matrix_of(3, {{0, 1, 5}, {1, 2, 5}, {0, 2, 7}, {1, 0, 7}});
  EXPECT_EQ(make_schedule(even, "birkhoff").num_transfers(), even.num_messages());
  // Whole messages would wait for 9 + 8 + 1 bytes; rank 3 receives 16 and rank 0 sends 11.
  const CommMatrix odd = test::matrix_of(4, {{0, 1, 9}, {0, 2, 1}, {0, 3, 1}, {1, 3, 8}, {2, 3, 8}});
  EXPECT_EQ(phase_bytes(make_schedule(odd, "birkhoff")), 17);
}

// Every phase empties a message or a filler, of which there are less than two per vertex.
TEST(Birkhoff, NeedsNoMorePhasesThanMessagesAndFillers) {
  for (const auto& [name, matrix] : test::sized_matrices()) {
    const Schedule schedule = make_schedule(matrix, "birkhoff");
    EXPECT_LE(schedule.num_phases(), matrix.num_messages() + 2 * static_cast<PhaseId>(matrix.num_ranks()))
        << name;
  }
}

// Without a look at sizes there would be nearly as many phases as messages.
TEST(Birkhoff, NeedsFewPhasesForDenseMatrices) {
  const CommMatrix matrix = test::with_uniform_sizes(random_regular(64, 63, {}, 1), 1'000'000, 1);
  EXPECT_LT(make_schedule(matrix, "birkhoff").num_phases(), matrix.num_messages() / 6);
}

/// Bytes over the bound for whole messages.
double bytes_to_whole(const CommMatrix& matrix, const char* scheduler) {
  const Bytes sum = phase_bytes(make_schedule(matrix, scheduler));
  return static_cast<double>(sum) / static_cast<double>(whole_message_bytes(matrix));
}

TEST(ColoringBySize, NearlyReachesTheWholeMessageBound) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const CommMatrix& matrix : {random_regular(40, 39, {}, seed), random_regular(128, 127, {}, seed),
                                     random_regular(128, 64, {}, seed), random_regular(256, 16, {}, seed),
                                     random_density(256, 0.06, {}, seed)}) {
      EXPECT_LE(bytes_to_whole(test::with_uniform_sizes(matrix, 1'000'000, seed), "coloring_by_size"), 1.01);
      EXPECT_LE(bytes_to_whole(test::with_uniform_sizes(matrix, 32, seed), "coloring_by_size"), 1.01);
      EXPECT_LE(bytes_to_whole(test::with_zipf_sizes(matrix, 0.8, 1'000'000'000, seed), "coloring_by_size"),
                1.01);
    }
  }
}

// By hand: targets 9, 8, 1. Rank 0's 9 and one of the 8s for rank 3 go first; the other 8 must not wait for a
// third phase, so rank 0 sends a 1 next to it.
TEST(ColoringBySize, ReachesTheBoundOfASmallExample) {
  const CommMatrix matrix = test::matrix_of(4, {{0, 1, 9}, {0, 2, 1}, {0, 3, 1}, {1, 3, 8}, {2, 3, 8}});
  const Schedule schedule = make_schedule(matrix, "coloring_by_size");
  EXPECT_EQ(schedule.num_phases(), 3U);
  EXPECT_EQ(phase_bytes(schedule), 9 + 8 + 1);
}

// Six messages in a cycle: phases alternate along it, so the two large ones, an odd number of steps apart,
// cannot share a phase. The targets are 10 and 1; both phases have to wait for 10 bytes.
TEST(ColoringBySize, RaisesTargetsWhereItMust) {
  const CommMatrix matrix =
      test::matrix_of(6, {{0, 3, 10}, {1, 3, 1}, {1, 4, 1}, {2, 4, 10}, {2, 5, 1}, {0, 5, 1}});
  EXPECT_EQ(whole_message_bytes(matrix), 11);
  const Schedule schedule = make_schedule(matrix, "coloring_by_size");
  EXPECT_EQ(schedule.num_phases(), 2U);
  EXPECT_EQ(phase_bytes(schedule), 20);
}

/// As in real programs: rank 0 has all others as partners, for tiny messages; most ranks have five of 100 KB,
/// and some one of 400 KB instead, for which all others would wait.
CommMatrix with_heavy_tail(Rank num_ranks) {
  std::vector<Message> messages;
  for (Rank rank = 1; rank < num_ranks; ++rank) {
    messages.push_back({0, rank, 8 + rank % 5});
    messages.push_back({rank, 0, 4});
    const bool has_one = rank % 9 == 3;
    if (has_one && rank + 30 < num_ranks) messages.push_back({rank, rank + 30, 400'000});
    for (const Rank step : {1, 2, 5, 11, 17}) {
      const Rank to = rank + step;
      if (!has_one && to % 9 != 6 && to < num_ranks) messages.push_back({rank, to, 100'000 + rank});
    }
  }
  return CommMatrix::from_messages(num_ranks, messages);
}

TEST(Slices, TakeHardlyMoreThanTheBusiestRankHas) {
  for (const Rank ranks : {64, 300}) {
    const CommMatrix matrix = with_heavy_tail(ranks);
    const Bounds bounds = lower_bounds(matrix);
    const auto bound = static_cast<double>(bounds.max_port_bytes);
    EXPECT_GT(static_cast<double>(phase_bytes(make_schedule(matrix, "coloring_by_size"))), 1.5 * bound);
    const Schedule schedule = make_schedule(matrix, "slices");
    const auto violation = check(matrix, schedule, direct | one_port);
    EXPECT_FALSE(violation) << violation->text;
    EXPECT_LE(schedule.num_phases(), bounds.max_degree * 11 / 10);
    EXPECT_LE(static_cast<double>(phase_bytes(schedule)), 1.01 * bound);
    EXPECT_LE(schedule.num_transfers(), 7 * matrix.num_messages());  // smaller pieces save nothing
  }
}

TEST(Slices, NeedAtMostATenthMorePhases) {
  for (const auto& [name, matrix] : test::sized_matrices()) {
    const Schedule schedule = make_schedule(matrix, "slices");
    EXPECT_LE(schedule.num_phases(), lower_bounds(matrix).max_degree * 11 / 10) << name;
    EXPECT_LE(phase_bytes(schedule), phase_bytes(make_schedule(matrix, "coloring_by_size"))) << name;
  }
}

TEST(Slices, SplitNothingWhereNothingIsSaved) {
  const CommMatrix matrix = random_regular(64, 16, {}, 3);
  EXPECT_EQ(make_schedule(matrix, "slices"), make_schedule(matrix, "coloring_by_size"));
}

double cost(const Schedule& schedule, Bytes phase_cost_bytes) {
  return static_cast<double>(phase_bytes(schedule)) +
         static_cast<double>(phase_cost_bytes) * schedule.num_phases();
}

TEST(Kpbs, CostsAtMostTwiceTheLeast) {
  for (const auto& [name, matrix] : test::sized_matrices()) {
    const Bounds bounds = lower_bounds(matrix);
    for (const Bytes c : {Bytes{0}, Bytes{1}, Bytes{100}, Bytes{100'000}, bounds.max_port_bytes, max_bytes}) {
      SCOPED_TRACE(name + ", cost of a phase " + std::to_string(c));
      const Schedule schedule = make_schedule(matrix, "kpbs", 0, c);
      const auto violation = check(matrix, schedule, direct | one_port);
      ASSERT_FALSE(violation) << violation->text;
      const double least = static_cast<double>(bounds.max_port_bytes) +
                           static_cast<double>(c) * static_cast<double>(bounds.max_degree);
      EXPECT_LE(cost(schedule, c), 2 * least * (1 + 1e-12));
      EXPECT_LE(cost(schedule, c), cost(make_schedule(matrix, "coloring_by_size"), c));
    }
  }
}

TEST(Kpbs, SplitsWhereThatPays) {
  const CommMatrix matrix = test::with_uniform_sizes(random_regular(40, 39, {}, 1), 1'000'000, 1);
  EXPECT_EQ(phase_bytes(make_schedule(matrix, "kpbs", 0, 0)), lower_bounds(matrix).max_port_bytes);
  const Schedule cheap = make_schedule(matrix, "kpbs", 0, 500);
  EXPECT_GT(cheap.num_transfers(), matrix.num_messages());
  EXPECT_LT(cost(cheap, 500), cost(make_schedule(matrix, "birkhoff"), 500));
  EXPECT_LT(cost(cheap, 500), cost(make_schedule(matrix, "coloring_by_size"), 500));
  EXPECT_EQ(make_schedule(matrix, "kpbs", 0, 1'000'000), make_schedule(matrix, "coloring_by_size"));
}

TEST(Kpbs, RefusesACostThatIsNone) {
  const CommMatrix matrix = test::table1_of_004();
  EXPECT_ERROR(make_schedule(matrix, "kpbs", 0, -1), ErrorCode::not_applicable, {"kpbs", "2^62"});
  EXPECT_ERROR(make_schedule(matrix, "kpbs", 0, max_bytes + 1), ErrorCode::not_applicable, {"kpbs", "2^62"});
}

/// As real programs: every rank of a cube sends as much to each of its neighbours, and a little to rank 0 and
/// back. There are as many phases as rank 0 has partners, and few of them are for the large messages.
TEST(DistributedColoring, MakesHardlyMorePhasesForTheLargeMessagesThanThereMustBe) {
  constexpr Rank side = 8;
  constexpr Rank num_ranks = side * side * side;
  std::vector<Message> messages;
  for (Rank rank = 1; rank < num_ranks; ++rank) {
    for (const Rank step : {1, side, side * side})
      if (rank / step % side != 0)
        for (const bool back : {false, true})
          messages.push_back({back ? rank : rank - step, back ? rank - step : rank, 1'000'000});
    if (rank == 1 || rank == side || rank == side * side) continue;  // neighbours of rank 0
    messages.push_back({0, rank, 8});
    messages.push_back({rank, 0, 8});
  }
  const CommMatrix matrix = CommMatrix::from_messages(num_ranks, messages);
  const Bytes whole = whole_message_bytes(matrix);
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_LE(phase_bytes(make_schedule(matrix, "distributed_coloring", seed)), whole + whole / 5);
}

// No schedule of whole messages has fewer than W bytes. A few phases more are worth it, unless they cost more
// than they save.
TEST(DistributedColoring, CutsMessagesForWhichMostRanksWouldWait) {
  const CommMatrix matrix = with_heavy_tail(120);
  const Bytes least = lower_bounds(matrix).max_port_bytes;
  ASSERT_GE(whole_message_bytes(matrix), least + least / 2);
  for (const std::uint64_t seed : {0, 1, 2}) {
    const Schedule cut = make_schedule(matrix, "distributed_coloring", seed);
    EXPECT_LE(phase_bytes(cut), least + least / 7);
    EXPECT_LE(cut.num_phases(), 119 + 12);
    const Schedule whole = make_schedule(matrix, "distributed_coloring", seed, 10'000'000);
    EXPECT_EQ(whole.num_transfers(), matrix.num_messages());
    EXPECT_GE(phase_bytes(whole), whole_message_bytes(matrix));
  }
}

/// A grid with messages of two large sizes, one for each direction, as LULESH has them, and tiny messages
/// between all ranks. Two ranks must not offer each other the same colours forever: then a phase of the
/// smaller of the large sizes is added, a ninth of all bytes.
TEST(DistributedColoring, AddsNoPhaseForLargeMessagesOfTwoSizes) {
  constexpr Rank side = 5;
  constexpr Rank num_ranks = side * side * side;
  std::vector<Message> messages;
  for (Rank src = 0; src < num_ranks; ++src)
    for (Rank dst = 0; dst < num_ranks; ++dst) {
      if (src == dst) continue;
      Bytes bytes = 8;
      for (const Rank step : {1, side, side * side}) {
        if (dst - src == step && dst / step % side != 0) bytes = 2'000'000;
        if (src - dst == step && src / step % side != 0) bytes = 1'000'000;
      }
      messages.push_back({src, dst, bytes});
    }
  const CommMatrix matrix = CommMatrix::from_messages(num_ranks, messages);
  const Bytes whole = whole_message_bytes(matrix);
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_LE(phase_bytes(make_schedule(matrix, "distributed_coloring", seed)), whole + whole / 100);
}

}  // namespace
}  // namespace nuice
