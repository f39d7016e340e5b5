// SPDX-License-Identifier: BSD-3-Clause
// Mutants of right schedules: each must be caught. A mutant that is by chance right again does not count.
#include <gtest/gtest.h>

#include <functional>

#include "nuice/nuice.hpp"
#include "support/matrices.hpp"

namespace nuice {
namespace {

struct Move {
  PhaseId phase;
  Rank src, dst;
  Piece piece;
};

std::vector<Move> moves_of(const Schedule& schedule) {
  std::vector<Move> moves;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase))
      moves.push_back({phase, transfer.src, transfer.dst, transfer.pieces[0]});
  }
  return moves;
}

Schedule schedule_of(Rank num_ranks, const std::vector<Move>& moves) {
  Schedule schedule(num_ranks);
  PhaseId phase = 0;
  for (const Move& move : moves) {
    if (move.phase != phase) schedule.begin_phase();
    phase = move.phase;
    schedule.add(move.src, move.dst, {&move.piece, 1});
  }
  return schedule;
}

using Mutate = std::function<void(std::vector<Move>&, Random&)>;

/// Applies the mutation at many places of many schedules; every mutant must be refused.
void expect_all_caught(const Mutate& mutate, unsigned extra_guarantees = 0) {
  int mutants = 0;
  Random random(2026);
  for (const auto& [name, matrix] : test::random_matrices()) {
    if (matrix.num_messages() < 2) continue;
    for (const char* scheduler : {"lp", "rs_n", "coloring"}) {
      const Schedule right = make_schedule(matrix, scheduler, 1);
      const unsigned guarantees = find_scheduler(scheduler).guarantees | extra_guarantees;
      for (int i = 0; i < 10; ++i) {
        std::vector<Move> moves = moves_of(right);
        mutate(moves, random);
        ASSERT_TRUE(check(matrix, schedule_of(matrix.num_ranks(), moves), guarantees))
            << name << ", " << scheduler << ", mutant " << i;
        ++mutants;
      }
    }
  }
  EXPECT_GT(mutants, 2000);
}

Move& pick(std::vector<Move>& moves, Random& random) { return moves[random.below(moves.size())]; }

TEST(CheckMutation, Drop) {
  expect_all_caught([](auto& moves, Random& random) {
    moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(random.below(moves.size())));
  });
}
TEST(CheckMutation, DuplicateInTheSamePhase) {
  expect_all_caught([](auto& moves, Random& random) {
    const auto at = static_cast<std::ptrdiff_t>(random.below(moves.size()));
    const Move copy = moves[static_cast<std::size_t>(at)];
    moves.insert(moves.begin() + at, copy);
  });
}
TEST(CheckMutation, DuplicateInALaterPhase) {
  expect_all_caught([](auto& moves, Random& random) {
    Move copy = pick(moves, random);
    copy.phase = moves.back().phase + 1;
    moves.push_back(copy);
  });
}
TEST(CheckMutation, SwapTheMessagesOfTwoTransfers) {
  expect_all_caught([](auto& moves, Random& random) {
    Move& a = pick(moves, random);
    Move* b = &a;
    while (b == &a) b = &pick(moves, random);
    std::swap(a.piece, b->piece);
  });
}
TEST(CheckMutation, SwapTheEndsOfATransfer) {
  expect_all_caught([](auto& moves, Random& random) {
    Move& move = pick(moves, random);
    std::swap(move.src, move.dst);
  });
}
TEST(CheckMutation, ShiftTheByteRange) {
  expect_all_caught([](auto& moves, Random& random) { pick(moves, random).piece.offset += 1; });
}
TEST(CheckMutation, ShortenTheByteRange) {
  expect_all_caught([](auto& moves, Random& random) { pick(moves, random).piece.bytes -= 1; });
}
TEST(CheckMutation, SendToAnotherRank) {
  expect_all_caught([](auto& moves, Random& random) {
    Move& move = pick(moves, random);
    move.dst = move.dst == 0 ? 1 : 0;
  });
}
TEST(CheckMutation, MoveIntoAPhaseWhereARankIsBusy) {
  expect_all_caught([](auto& moves, Random& random) {
    // Any two transfers of one sender or one receiver, put into one phase.
    for (;;) {
      Move& a = pick(moves, random);
      for (Move& b : moves) {
        if (&a == &b || (a.src != b.src && a.dst != b.dst)) continue;
        const Move moved{b.phase, a.src, a.dst, a.piece};
        const auto after_b = moves.begin() + (&b - moves.data()) + 1;
        const std::ptrdiff_t index_a = &a - moves.data();
        const auto inserted = moves.insert(after_b, moved) - moves.begin();
        moves.erase(moves.begin() + (inserted <= index_a ? index_a + 1 : index_a));
        return;
      }
      // A message without neighbours: make it one by doubling, which is as wrong.
      moves.push_back(a);
      return;
    }
  });
}

}  // namespace
}  // namespace nuice
