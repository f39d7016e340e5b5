// SPDX-License-Identifier: BSD-3-Clause
// Epochs until counters of 24 bits have wrapped around: other programs have stopped after 2^24 rounds of
// non-blocking collectives on one communicator (deal.II issue 14405, Open MPI issue 11052). Memory must not
// grow. Takes a minute on two idle cores; ctest -C soak.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "nuice/am/level_sync.hpp"
#include "nuice/mpi/am.hpp"
#include "support/resident.hpp"

namespace nuice::test {
namespace {

constexpr std::uint64_t rounds = (std::uint64_t{1} << 24) + 1000;

struct Word {
  std::uint64_t value;
};

/// The maximum memory that a rank may gain after the first sixteenth of the test: less than a byte per round.
constexpr Bytes growth_max = Bytes{4} << 20;

class Soak : public testing::TestWithParam<std::string> {};

TEST_P(Soak, LevelsWithNeighbours) {
  am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD, {.transport = GetParam()}));
  am::LevelSync* sync = nullptr;
  std::uint64_t wrong = 0;
  std::uint64_t handled = 0;
  const auto tell = ep.on<Word>("tell", [&](am::Context& c, const Word& w) {
    ++handled;
    wrong += w.value != sync->level_of(c.source()) ? 1 : 0;
  });
  ep.seal();
  const Rank right = (ep.rank() + 1) % ep.num_ranks();
  const Rank left = (ep.rank() + ep.num_ranks() - 1) % ep.num_ranks();
  const std::vector<Rank> both = right == left ? std::vector<Rank>{right} : std::vector<Rank>{right, left};
  am::LevelSync levels(ep, both);
  sync = &levels;
  Bytes resident = 0;
  for (std::uint64_t level = 0; level < rounds; ++level) {
    if (level == rounds / 16) resident = resident_bytes();
    if (level % 16 == 0) ep.send(right, tell, Word{level});
    levels.finish_level();
  }
  ep.quiesce();
  EXPECT_LT(resident_bytes() - resident, growth_max);
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(handled, (rounds + 15) / 16);
}

TEST_P(Soak, Quiescence) {
  am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD, {.transport = GetParam()}));
  std::uint64_t epoch = 0;
  std::uint64_t wrong = 0;
  const auto tell =
      ep.on<Word>("tell", [&](am::Context&, const Word& w) { wrong += w.value != epoch ? 1 : 0; });
  ep.seal();
  // Each quiesce() takes at least three collectives.
  Bytes resident = 0;
  for (; epoch < rounds / 3; ++epoch) {
    if (epoch == rounds / 48) resident = resident_bytes();
    if (epoch % 16 == 0) ep.send((ep.rank() + 1) % ep.num_ranks(), tell, Word{epoch});
    ep.quiesce();
  }
  EXPECT_LT(resident_bytes() - resident, growth_max);
  EXPECT_EQ(wrong, 0U);
}

INSTANTIATE_TEST_SUITE_P(Transports, Soak, testing::ValuesIn(am::mpi::transports()),
                         [](const testing::TestParamInfo<std::string>& param) {
                           std::string name = param.param;
                           for (char& c : name) c = c == '+' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace nuice::test
