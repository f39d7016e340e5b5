// SPDX-License-Identifier: BSD-3-Clause
// The parts of the MPI layer that its users do not see: derived types for large pieces, requests, tags.

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

#include "mpi/call.hpp"
#include "mpi/host/meeting.hpp"
#include "mpi/mpi_support.hpp"
#include "mpi/requests.hpp"

namespace nuice::mpi {
namespace {

TEST(Call, ErrorsOfMpiComeWithItsText) {
  const Communicator comm(MPI_COMM_WORLD, 0);
  const int byte = 0;
  test::expect_error(ErrorCode::mpi, "MPI_Send: ", [&] {
    must(MPI_Send(&byte, 1, MPI_INT, comm.num_ranks() + 5, 0, comm.get()), "MPI_Send");
  });
  EXPECT_NO_THROW(must(MPI_SUCCESS, "nothing"));
}

TEST(Extent, ManyBytesBecomeOneElementOfADerivedType) {
  const int max_count = 10;
  for (const Bytes bytes : {1, 9, 10, 11, 19, 20, 21, 99, 100, 105}) {
    const Extent extent = Extent::of(bytes, max_count);
    int element_bytes = 0;
    MPI_Type_size(extent.type.get(), &element_bytes);
    EXPECT_EQ(Bytes{extent.count} * element_bytes, bytes);
    EXPECT_EQ(extent.count, bytes <= max_count ? bytes : 1);

    std::vector<unsigned char> from(static_cast<std::size_t>(bytes));
    std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
    std::vector<unsigned char> to(from.size(), 0);
    MPI_Sendrecv(from.data(), extent.count, extent.type.get(), 0, 0, to.data(), static_cast<int>(bytes),
                 MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EXPECT_EQ(from, to) << bytes;
  }
  test::expect_error(ErrorCode::limit, "110 bytes in one piece", [] { Extent::of(110, 10); });
}

TEST(Extent, HoldsMoreThanAnIntCounts) {
  const Bytes bytes = (Bytes{5} << 30) + 7;
  const Extent extent = Extent::of(bytes);
  MPI_Count size = 0;
  MPI_Type_size_x(extent.type.get(), &size);
  EXPECT_EQ(Bytes{size} * extent.count, bytes);
}

/// To the next rank and from the one before: short, long, short, by one tag, time after time.
TEST(Requests, ShortSendsKeepTheirPlaceAmongPersistentOnes) {
  const Communicator comm(MPI_COMM_WORLD, 0);
  const Rank to = (comm.rank() + 1) % comm.num_ranks();
  const Rank from = (comm.rank() + comm.num_ranks() - 1) % comm.num_ranks();
  const std::vector<int> sizes = {3, 100'000, 3};
  std::vector<std::vector<char>> sent;
  std::vector<std::vector<char>> received;
  for (const int size : sizes) {
    sent.emplace_back(static_cast<std::size_t>(size));
    received.emplace_back(static_cast<std::size_t>(size));
  }
  Requests sends;
  Requests receives;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto segment = [&](std::vector<char>& data) {
      return Segment{reinterpret_cast<std::byte*>(data.data()), sizes[i], MPI_CHAR};
    };
    receives.add(Requests::Mode::receive, segment(received[i]), from, 7, comm.get());
    sends.add(Requests::Mode::send, segment(sent[i]), to, 7, comm.get());
  }
  for (int round = 1; round <= 3; ++round) {
    for (std::size_t i = 0; i < 3; ++i)
      std::ranges::fill(sent[i], static_cast<char>(10 * round + static_cast<int>(i)));
    receives.start(0, 3);
    sends.start_unordered(0, 3);
    while (!receives.test(0, 3)) continue;
    while (!sends.test(0, 3)) continue;
    EXPECT_TRUE(sends.test(0, 3));  // nothing is in flight, which is not an error
    EXPECT_EQ(received, sent);
  }
}

TEST(Tags, ThatRunOutBeginAgainOnACommunicatorThatNobodyUses) {
  auto comm = std::make_shared<const Communicator>(MPI_COMM_WORLD, 0);
  constexpr int last_tag = 6;  // room for 0, 1, 2 and 3, 4, 5
  struct Bound {
    std::shared_ptr<const Communicator> comm;
    int tag;
  };
  std::vector<Bound> bound;
  int tag = 0;
  for (int i = 0; i < 4; ++i) {
    bound.push_back({comm, tag});
    take_tags(comm, tag, last_tag);
  }
  for (std::size_t i = 0; i < bound.size(); ++i) EXPECT_EQ(bound[i].tag, i % 2 == 0 ? 0 : 3);
  EXPECT_EQ(bound[0].comm, bound[1].comm);
  EXPECT_NE(bound[1].comm, bound[2].comm);
  EXPECT_EQ(bound[2].comm, bound[3].comm);

  // The first and the third have the same tag; ranks start them in different orders.
  const Rank to = (comm->rank() + 1) % comm->num_ranks();
  const Rank from = (comm->rank() + comm->num_ranks() - 1) % comm->num_ranks();
  int sent[2] = {100 + comm->rank(), 200 + comm->rank()};
  int received[2] = {0, 0};
  MPI_Request requests[4];
  for (const int turn : {0, 1}) {
    const int i = comm->rank() % 2 == 0 ? turn : 1 - turn;
    const Bound& exchange = bound[i == 0 ? 0 : 2];
    MPI_Irecv(&received[i], 1, MPI_INT, from, exchange.tag, exchange.comm->get(), &requests[2 * turn]);
    MPI_Isend(&sent[i], 1, MPI_INT, to, exchange.tag, exchange.comm->get(), &requests[2 * turn + 1]);
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(received[0], 100 + from);
  EXPECT_EQ(received[1], 200 + from);
}

TEST(Receives, NothingIsWrittenByOnesThatWereCancelled) {
  const Communicator comm(MPI_COMM_WORLD, 0);
  const Rank to = (comm.rank() + 1) % comm.num_ranks();
  const Rank from = (comm.rank() + comm.num_ranks() - 1) % comm.num_ranks();
  int first = 1;
  int second = 1;
  std::vector<MPI_Request> receives(3, MPI_REQUEST_NULL);
  MPI_Irecv(&first, 1, MPI_INT, from, 5, comm.get(), &receives[0]);
  MPI_Recv_init(&second, 1, MPI_INT, from, 5, comm.get(), &receives[2]);
  MPI_Start(&receives[2]);
  cancel_receives(receives);
  MPI_Barrier(comm.get());
  const int sent = 2;
  int received = 0;
  MPI_Sendrecv(&sent, 1, MPI_INT, to, 5, &received, 1, MPI_INT, from, 5, comm.get(), MPI_STATUS_IGNORE);
  EXPECT_EQ(received, 2);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  MPI_Wait(&receives[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&receives[2]);
}

/// In blocks, dealt out, all alike, all different; several numbers that one rank keeps.
TEST(Meeting, RanksWithOneNumberFindEachOther) {
  const Rank n = test::world_size();
  const auto meets = [](auto&& number_of) {
    const Communicator comm(MPI_COMM_WORLD, 5);
    std::vector<Rank> expected;
    for (Rank r = 0; r < comm.num_ranks(); ++r)
      if (number_of(r) == number_of(comm.rank())) expected.push_back(r);
    EXPECT_EQ(meet(comm, static_cast<std::uint64_t>(number_of(comm.rank()))), expected);
  };
  meets([](Rank r) { return 1000 + r / 2; });
  meets([](Rank r) { return r % 2; });
  meets([](Rank) { return 7; });
  meets([](Rank r) { return r; });
  meets([&](Rank r) { return r % 3 * n; });
}

}  // namespace
}  // namespace nuice::mpi
