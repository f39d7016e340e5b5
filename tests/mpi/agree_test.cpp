// SPDX-License-Identifier: BSD-3-Clause
// Agreement of ranks, on the user's communicators and on the library's own, and what rank 0 shares.
#include "mpi/agree.hpp"

#include "mpi/mpi_support.hpp"
#include "mpi/share.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {
namespace {

/// A step that throws this on the last rank only.
template <typename Exception>
auto on_last_rank(Exception exception) {
  return [exception] {
    if (world_rank() == world_size() - 1) throw exception;
  };
}

std::string last_rank() { return "rank " + std::to_string(world_size() - 1); }

TEST(Agree, TheLowestRankWithAnErrorIsHeardByAll) {
  const Communicator comm(MPI_COMM_WORLD, 0);
  EXPECT_NO_THROW(all_or_none(MPI_COMM_WORLD, [] {}));
  EXPECT_NO_THROW(all_or_none(comm, [] {}));
  for (Rank first = 0; first < comm.num_ranks(); ++first) {
    const std::string expected = "rank " + std::to_string(first) + " says no";
    const auto step = [first] {
      if (world_rank() >= first)
        throw Error(ErrorCode::io, "rank " + std::to_string(world_rank()) + " says no");
    };
    test::expect_same_error(ErrorCode::io, expected, [&] { all_or_none(MPI_COMM_WORLD, step); });
    test::expect_same_error(ErrorCode::io, expected, [&] { all_or_none(comm, step); });
  }
}

TEST(Agree, EveryKindOfExceptionIsAgreed) {
  const auto expect = [](ErrorCode code, const std::string& text, auto exception) {
    test::expect_same_error(code, text, [&] { all_or_none(MPI_COMM_WORLD, on_last_rank(exception)); });
  };
  expect(ErrorCode::limit, last_rank() + " is out of memory", std::bad_alloc());
  expect(ErrorCode::limit, last_rank() + " cannot hold arrays of this length", std::length_error("vector"));
  expect(ErrorCode::invalid_argument, last_rank() + ": oops", std::runtime_error("oops"));
  expect(ErrorCode::invalid_argument, last_rank() + ": an exception that is not a std::exception", 42);
  expect(ErrorCode::parse, "", Error(ErrorCode::parse, ""));
}

TEST(Agree, AStepMayEndNowAndBeAgreedOnLater) {
  const Outcome mine = attempt(world_rank(), on_last_rank(Error(ErrorCode::timeout, "too late")));
  EXPECT_EQ(mine.has_value(), world_rank() == world_size() - 1);
  test::expect_same_error(ErrorCode::timeout, "too late", [&] { agree(MPI_COMM_WORLD, mine); });
  EXPECT_NO_THROW(agree(MPI_COMM_WORLD, std::nullopt));
}

TEST(Agree, AStepOfRank0FailsOnAll) {
  int runs = 0;
  on_rank_0(MPI_COMM_WORLD, [&] { ++runs; });
  EXPECT_EQ(runs, world_rank() == 0 ? 1 : 0);
  test::expect_same_error(ErrorCode::io, "no such file", [] {
    on_rank_0(MPI_COMM_WORLD, [] { throw Error(ErrorCode::io, "no such file"); });
  });
}

TEST(Agree, InASubcommunicatorItsRanksAreMeant) {
  MPI_Comm backwards = MPI_COMM_NULL;  // rank 0 is the last of all
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &backwards);
  EXPECT_EQ(rank_in(backwards), world_size() - 1 - world_rank());
  test::expect_same_error(ErrorCode::limit, "rank 0 is out of memory",
                          [&] { all_or_none(backwards, [] { throw std::bad_alloc(); }); });
  EXPECT_EQ(text_of_rank_0(backwards, last_rank() + (rank_in(backwards) == 0 ? "!" : "?")),
            last_rank() + "!");
  MPI_Comm_free(&backwards);
}

TEST(Agree, TheLargestOfAllRanks) {
  EXPECT_EQ(max_over_ranks(world_rank()), world_size() - 1);
  EXPECT_EQ(max_over_ranks(-1.5 - world_rank()), -1.5);
}

TEST(Share, RankZerosValuesAreEverybodys) {
  const Communicator comm(MPI_COMM_WORLD, 0);
  const bool is_first = comm.rank() == 0;
  int number = is_first ? 7 : -1;
  double real = is_first ? 0.25 : -1;
  share_from_rank_0(comm, number, real);
  EXPECT_EQ(number, 7);
  EXPECT_EQ(real, 0.25);
}

}  // namespace
}  // namespace nuice::mpi
