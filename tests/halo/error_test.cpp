// SPDX-License-Identifier: BSD-3-Clause
// Bad input on one rank gives the same error on all ranks, and no rank hangs.
#include "halo/halo_support.hpp"

namespace nuice {
namespace {

using mpi::Halo;
using mpi::Ownership;
using test::GlobalIndex;
using Indices = std::vector<GlobalIndex>;

bool is_last_rank() { return test::world_rank() == test::world_size() - 1; }
std::string last_rank() { return "rank " + std::to_string(test::world_size() - 1); }

/// Rank r owns 10 r .. 10 r + 9.
std::vector<GlobalIndex> tens() {
  std::vector<GlobalIndex> begins;
  for (Rank rank = 0; rank <= test::world_size(); ++rank) begins.push_back(10 * rank);
  return begins;
}
Indices my_ten() {
  Indices mine;
  for (int i = 0; i < 10; ++i) mine.push_back(10 * test::world_rank() + i);
  return mine;
}
/// What the last rank needs; the others need nothing.
Indices by_last_rank(Indices indices) { return is_last_rank() ? indices : Indices{}; }

template <typename Step>
void expect(ErrorCode code, const std::string& text, Step&& step) {
  test::expect_same_error(code, text, step);
}

TEST(HaloErrors, IndicesThatNobodyOwnsAreNamed) {
  const GlobalIndex end = 10 * test::world_size();
  const auto text = [](GlobalIndex g) {
    return last_rank() + " needs global index " + std::to_string(g) + ", which no rank owns";
  };
  for (const GlobalIndex g : {end, GlobalIndex{-1}, GlobalIndex{1} << 60}) {
    expect(ErrorCode::invalid_argument, text(g),
           [&] { Halo(MPI_COMM_WORLD, Ownership::ranges(tens()), by_last_rank({0, g})); });
    expect(ErrorCode::invalid_argument, text(g),
           [&] { Halo(MPI_COMM_WORLD, Ownership::list(my_ten()), by_last_rank({g, 0})); });
    expect(ErrorCode::invalid_argument, text(g), [&] {
      Halo(MPI_COMM_WORLD, Ownership::array(std::vector<Rank>(static_cast<std::size_t>(end), 0)),
           by_last_rank({g}));
    });
  }
  const auto beyond = [](GlobalIndex g) { return static_cast<Rank>(g / 10); };
  expect(ErrorCode::invalid_argument,
         "which by the owner rule belongs to rank " + std::to_string(test::world_size()),
         [&] { Halo(MPI_COMM_WORLD, Ownership::function(my_ten(), beyond), by_last_rank({end})); });
}

TEST(HaloErrors, IndicesOwnedTwiceAreNamed) {
  Indices owned = my_ten();
  if (is_last_rank()) owned.push_back(owned.front());
  expect(ErrorCode::invalid_argument,
         last_rank() + " lists global index " + std::to_string(10 * (test::world_size() - 1)) +
             " twice as its own",
         [&] { Halo(MPI_COMM_WORLD, Ownership::list(owned), Indices{}); });
  if (test::world_size() < 2) return;
  owned = my_ten();
  if (is_last_rank()) owned.push_back(7);
  expect(ErrorCode::invalid_argument, "global index 7 is owned by rank 0 and by " + last_rank(),
         [&] { Halo(MPI_COMM_WORLD, Ownership::list(owned), Indices{}); });
}

TEST(HaloErrors, RangesTakeNoMemoryForTheirEntries) {
  for (const GlobalIndex begin : {GlobalIndex{0}, -(GlobalIndex{1} << 62)}) {
    std::vector<GlobalIndex> huge(static_cast<std::size_t>(test::world_size()), begin);
    huge.push_back(GlobalIndex{1} << 62);
    const std::string entries = begin == 0 ? "4611686018427387904" : "9223372036854775808";
    expect(ErrorCode::limit, last_rank() + " has " + entries + " entries, owned and ghosts",
           [&] { Halo(MPI_COMM_WORLD, Ownership::ranges(huge), Indices{}); });
  }
  const GlobalIndex most = (GlobalIndex{1} << 31) - 2;  // and one ghost
  std::vector<GlobalIndex> begins = tens();
  const GlobalIndex first = begins[begins.size() - 2];
  begins.back() = first + most;
  const Halo halo(MPI_COMM_WORLD, Ownership::ranges(begins), Indices{0, first + most - 1});
  EXPECT_EQ(halo.num_owned(), is_last_rank() ? most : 10);
  EXPECT_EQ(halo.local_index(begins[static_cast<std::size_t>(test::world_rank())]), 0);
  EXPECT_EQ(halo.local_index(first + most - 1), is_last_rank()            ? most - 1
                                                : test::world_rank() == 0 ? 10
                                                                          : 11);
  if (test::world_size() < 2) return;
  expect(ErrorCode::limit, last_rank() + " has 2147483648 entries",
         [&] { Halo(MPI_COMM_WORLD, Ownership::ranges(begins), by_last_rank({0, 1})); });
}

TEST(HaloErrors, OwnershipThatDiffersIsRefused) {
  if (test::world_size() < 2) return;
  std::vector<GlobalIndex> ranges = tens();
  if (is_last_rank()) ++ranges[1];
  expect(ErrorCode::mismatch, "differ between rank 0 and " + last_rank(),
         [&] { Halo(MPI_COMM_WORLD, Ownership::ranges(ranges), Indices{}); });
  expect(ErrorCode::mismatch, "rank 0 and " + last_rank() + " give different kinds of Ownership", [&] {
    Halo(MPI_COMM_WORLD, is_last_rank() ? Ownership::list(my_ten()) : Ownership::ranges(tens()), Indices{});
  });
  const auto all_mine = [](GlobalIndex) { return test::world_rank(); };
  Indices owned = my_ten();
  if (is_last_rank()) owned = {5};
  const auto to_0 = [](GlobalIndex) { return Rank{0}; };
  expect(ErrorCode::mismatch, "rank 1 lists global index", [&] {
    Halo(MPI_COMM_WORLD, Ownership::function(test::world_rank() == 1 ? Indices{11} : Indices{}, to_0),
         Indices{});
  });
  // The last rank takes index 3 for one of rank 0's, which says it is not.
  const auto wrong = [&](GlobalIndex g) { return g == 3 ? Rank{0} : all_mine(g); };
  expect(ErrorCode::mismatch, last_rank() + " needs global index 3 from rank 0, which does not own it",
         [&] { Halo(MPI_COMM_WORLD, Ownership::function(Indices{}, wrong), by_last_rank({3})); });
}

TEST(HaloErrors, WrongRangesAreRefused) {
  std::vector<GlobalIndex> ranges = tens();
  ranges.push_back(1000);
  expect(ErrorCode::invalid_argument, "Ownership::ranges has " + std::to_string(test::world_size() + 2),
         [&] { Halo(MPI_COMM_WORLD, Ownership::ranges(ranges), Indices{}); });
  ranges = tens();
  ranges.front() = 11;
  expect(ErrorCode::invalid_argument, "the range of rank 0 ends at 10, before it begins at 11",
         [&] { Halo(MPI_COMM_WORLD, Ownership::ranges(ranges), Indices{}); });
}

TEST(HaloErrors, OptionsAndCommunicatorsAreChecked) {
  expect(ErrorCode::invalid_argument, "unknown scheduler \"none\"",
         [&] { Halo(MPI_COMM_WORLD, Ownership::ranges(tens()), Indices{}, {.scheduler = "none"}); });
  expect(ErrorCode::invalid_argument, "MPI_COMM_NULL",
         [&] { Halo(MPI_COMM_NULL, Ownership::ranges(tens()), Indices{}); });
}

TEST(HaloErrors, FieldsThatDoNotFitAreNamed) {
  Halo halo(MPI_COMM_WORLD, Ownership::ranges(tens()), Indices{0});
  const std::size_t enough = halo.num_entries();
  std::vector<double> values(is_last_rank() ? 9 : enough);
  expect(ErrorCode::invalid_argument, last_rank() + ", field 0: the owned values have 72 bytes",
         [&] { halo.bind_gather(values); });
  expect(ErrorCode::invalid_argument, last_rank() + ", field 0: the owned values have 72 bytes",
         [&] { halo.bind_scatter(values); });
  values.resize(enough);
  expect(ErrorCode::invalid_argument, last_rank() + ", field 0: fewer than one component",
         [&] { halo.bind_gather(values, is_last_rank() ? 0 : 1); });
  expect(ErrorCode::invalid_argument, last_rank() + " binds a halo to no field", [&] {
    std::vector<mpi::GatherField> fields;
    if (!is_last_rank()) fields.push_back(mpi::gather_field(values, values));
    halo.bind_gather(std::span<const mpi::GatherField>(fields));
  });
  if (test::world_size() < 2) return;
  std::vector<double> ghosts;
  expect(ErrorCode::invalid_argument, "rank 1, field 0: the ghost values have 0 bytes; 1 entries of 8 bytes",
         [&] { halo.bind_gather(values, ghosts); });
  values.resize(2 * enough);
  expect(ErrorCode::mismatch, "bytes per entry differ: 8 on rank 0, 16 on " + last_rank(),
         [&] { halo.bind_gather(values, is_last_rank() ? 2 : 1); });
}

TEST(HaloErrors, CallsOutOfOrderAreRefused) {
  Halo halo(MPI_COMM_WORLD, Ownership::ranges(tens()), Indices{0});
  std::vector<double> values(halo.num_entries());
  auto gather = halo.bind_gather(values);
  test::expect_error(ErrorCode::state, "not started", [&] { gather.wait(); });
  gather.start();
  test::expect_error(ErrorCode::state, "call wait() first", [&] { gather.start(); });
  test::expect_error(ErrorCode::state, "active", [&] { gather.free(); });
  gather.wait();
  gather.free();
  gather.free();
  test::expect_error(ErrorCode::state, "freed", [&] { gather.start(); });
  test::expect_error(ErrorCode::invalid_argument, "is neither owned by nor a ghost of rank",
                     [&] { halo.local_index(-5); });
  const Halo moved = std::move(halo);
  test::expect_error(ErrorCode::state, "moved from", [&] { halo.num_owned(); });
}

}  // namespace
}  // namespace nuice
