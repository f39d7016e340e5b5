// SPDX-License-Identifier: BSD-3-Clause
// Ranks that know their destinations learn their sources, by every way alike, call after call.
#include "nuice/mpi/discover.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

constexpr std::string_view ways[] = {"auto", "gather", "count", "consensus"};

TEST(Discover, SourcesAreTheColumnOfTheMatrix) {
  mpi::Discoverer discoverer(MPI_COMM_WORLD);
  for (unsigned seed = 0; seed < 20; ++seed) {
    // From empty to every rank; fast ranks run ahead into the next call.
    const CommMatrix matrix =
        random_density(test::world_size(), (seed % 5) / 4.0, {.unit_bytes = 3, .max_units = 9}, seed);
    std::vector<Partner> row = test::row_of(matrix, test::world_rank());
    row.push_back({test::world_rank(), seed % 2 == 0 ? 17 : 0});
    std::vector<Partner> column = test::column_of(matrix, test::world_rank());
    if (seed % 2 == 0) column.push_back({test::world_rank(), 17});
    std::ranges::sort(column, {}, &Partner::rank);
    for (const std::string_view way : ways)
      EXPECT_EQ(discoverer.sources(row, way), column) << way << ", seed " << seed;
  }
  const std::vector<Partner> to_next = {{(test::world_rank() + 1) % test::world_size(), 5}};
  const Rank previous = (test::world_rank() + test::world_size() - 1) % test::world_size();
  EXPECT_EQ(mpi::discover(MPI_COMM_WORLD, to_next), (std::vector<Partner>{{previous, 5}}));
}

TEST(Discover, WrongUseIsTheSameErrorOnAllRanks) {
  mpi::Discoverer discoverer(MPI_COMM_WORLD);
  const bool is_last = test::world_rank() == test::world_size() - 1;
  const std::vector<Partner> wrong = {{is_last ? test::world_size() : 0, 1}};
  for (const std::string_view way : ways)
    test::expect_same_error(ErrorCode::invalid_argument, "there are",
                            [&] { discoverer.sources(wrong, way); });
  test::expect_same_error(
      ErrorCode::invalid_argument,
      "unknown discovery method \"ask\"; known: gather, count, consensus, am_count, am_quiesce, auto",
      [&] { discoverer.sources({}, "ask"); });
  test::expect_same_error(ErrorCode::not_applicable, "uses active messages",
                          [&] { discoverer.sources({}, "am_count"); });
  if (test::world_size() > 1)
    test::expect_same_error(ErrorCode::mismatch,
                            "the discovery methods differ: count on rank 0, gather on rank",
                            [&] { discoverer.sources({}, is_last ? "gather" : "count"); });
}

}  // namespace
}  // namespace nuice
