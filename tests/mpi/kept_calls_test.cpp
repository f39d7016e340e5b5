// SPDX-License-Identifier: BSD-3-Clause
// Calls without init against MPI's own, with arguments that change on some ranks only. Registered twice:
// inside a host, and with hosts=1, where all messages go as between hosts.
#include <sys/mman.h>
#include <sys/time.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <numeric>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "mpi/neighbourhoods.hpp"
#include "nuice/core/random.hpp"
#include "nuice/mpi/alltoallv.hpp"

namespace nuice {
namespace {

using mpi::alltoallv;
using mpi::in_place;
using mpi::neighbor_alltoallv;
using mpi::ReceiveBlocks;
using mpi::SendBlocks;

/// A communicator of its own for each test: errors spoil it.
class KeptCalls : public testing::Test {
 protected:
  void SetUp() override { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  void TearDown() override { MPI_Comm_free(&comm_); }
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Elements for each partner, and where they begin: with gaps in between.
struct Side {
  std::vector<int> counts;
  std::vector<int> displs;
  std::vector<double> data;

  Side(int n, const std::function<int(int)>& count_with) {
    int at = 1;
    for (int i = 0; i < n; ++i) {
      counts.push_back(count_with(i));
      displs.push_back(at);
      at += counts.back() + i % 3;
    }
    data.assign(static_cast<std::size_t>(at), -1);
  }
  void fill(double first) { std::iota(data.begin(), data.end(), first); }
};

/// What src sends dst in a round: pairs change at different times, some of them seldom.
int count_of(int src, int dst, int round) {
  const std::uint64_t epoch =
      static_cast<std::uint64_t>(round) / (1 + static_cast<std::uint64_t>(src + 2 * dst) % 5);
  const std::uint64_t random = mix64(epoch * 1000003 + static_cast<std::uint64_t>(src * 97 + dst));
  constexpr std::array sizes = {0, 0, 1, 7, 100, 3000, 9000};
  return sizes[random % sizes.size()];
}

void expect_as_mpi(MPI_Comm comm, Side& out, Side& in, double first) {
  out.fill(first);
  alltoallv(comm, out.data, out.counts, out.displs, in.data, in.counts, in.displs);
  std::vector<double> expected(in.data.size(), -1);
  MPI_Alltoallv(out.data.data(), out.counts.data(), out.displs.data(), MPI_DOUBLE, expected.data(),
                in.counts.data(), in.displs.data(), MPI_DOUBLE, comm);
  EXPECT_EQ(in.data, expected);
}

/// Buffers, too, are others in every round, on some ranks.
TEST_F(KeptCalls, CountsThatChangeOnSomeRanks) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  for (int round = 0; round < test::rounds(60, 600); ++round) {
    SCOPED_TRACE(round);
    Side out(n, [&](int i) { return count_of(me, i, round); });
    Side in(n, [&](int i) { return count_of(i, me, round); });
    expect_as_mpi(comm_, out, in, 1000.0 * me + round);
  }
}

/// Ranks run ahead of each other where they have no messages.
TEST_F(KeptCalls, KnownArgumentsFarFewerRanksWait) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  Side out(n, [&](int i) { return i == (me + 1) % n && me % 2 == 0 ? 500 : 0; });
  Side in(n, [&](int i) { return me == (i + 1) % n && i % 2 == 0 ? 500 : 0; });
  for (int round = 0; round < 200; ++round) {
    out.fill(round);
    alltoallv(comm_, out.data, out.counts, out.displs, in.data, in.counts, in.displs);
  }
  for (std::size_t i = 0; i < in.counts.size(); ++i) {
    if (in.counts[i] == 0) continue;
    Side theirs(n, [&](int to) { return to == me ? 500 : 0; });
    theirs.fill(199);
    EXPECT_EQ(in.data[static_cast<std::size_t>(in.displs[i])],
              theirs.data[static_cast<std::size_t>(theirs.displs[static_cast<std::size_t>(me)])]);
  }
}

/// More than are kept, alternately, each with memory of its own.
TEST_F(KeptCalls, MorePatternsThanAreKept) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  std::vector<Side> outs;
  std::vector<Side> ins;
  for (int pattern = 0; pattern < 20; ++pattern) {
    outs.emplace_back(n, [&](int i) { return count_of(me, i, pattern); });
    ins.emplace_back(n, [&](int i) { return count_of(i, me, pattern); });
  }
  for (const std::size_t pattern :
       {0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0, 19, 5})
    expect_as_mpi(comm_, outs[pattern], ins[pattern], static_cast<double>(pattern));
}

/// With more than 8 ranks on a host, more than its memory has room for. Sparse: what fits.
TEST_F(KeptCalls, ManyShortMessages) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  for (int round = 0; round < 6; ++round) {
    const auto count = [&](int from, int to) { return round % 2 == 0 || (from + to) % 3 == 0 ? 4000 : 0; };
    Side out(n, [&](int i) { return count(me, i); });
    Side in(n, [&](int i) { return count(i, me); });
    expect_as_mpi(comm_, out, in, 1000.0 * me + round);
  }
}

TEST_F(KeptCalls, InPlaceAsMpi) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  for (int round = 0; round < 8; ++round) {
    Side both(n, [&](int i) { return count_of(std::min(i, me), std::max(i, me), round / 2); });
    for (int again = 0; again < 2; ++again) {
      both.fill(1000.0 * me + again);
      std::vector<double> expected = both.data;
      alltoallv(comm_, in_place, both.data, both.counts, both.displs);
      MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, expected.data(), both.counts.data(),
                    both.displs.data(), MPI_DOUBLE, comm_);
      EXPECT_EQ(both.data, expected);
    }
  }
}

/// Every second double of the sender; plain at the receiver. The next type may have the
/// handle of the one before, and is another.
TEST_F(KeptCalls, TypesThatComeAndGo) {
  const auto n = static_cast<std::size_t>(test::world_size());
  std::vector<std::int64_t> counts(n, 3);
  std::vector<std::int64_t> places(n);
  std::vector<double> sent(12 * n + 12);
  std::vector<double> received(3 * n);
  for (const int gap : {2, 3, 2, 1, 3}) {
    MPI_Datatype spaced = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_DOUBLE, 0, gap * static_cast<MPI_Aint>(sizeof(double)), &spaced);
    MPI_Type_commit(&spaced);
    for (std::size_t i = 0; i < n; ++i) places[i] = static_cast<std::int64_t>(3 * i);
    std::iota(sent.begin(), sent.end(), 100.0 * test::world_rank());
    for (int again = 0; again < 2; ++again) {
      std::ranges::fill(received, -1);
      const std::array types = {spaced};
      const std::array doubles = {MPI_DOUBLE};
      alltoallv(comm_,
                SendBlocks{.data = sent.data(),
                           .counts = {counts.data(), n},
                           .displs = {places.data(), n},
                           .types = types},
                ReceiveBlocks{.data = received.data(),
                              .counts = {counts.data(), n},
                              .displs = {places.data(), n},
                              .types = doubles});
      for (std::size_t i = 0; i < received.size(); ++i)
        ASSERT_EQ(received[i], 100.0 * static_cast<double>(i / 3) +
                                   gap * (3.0 * test::world_rank() + static_cast<double>(i % 3)));
    }
    MPI_Type_free(&spaced);
  }
}

void expect_neighbours_as_mpi(MPI_Comm comm, int num_in, int num_out) {
  for (const int elements : {4, 5000, 4}) {
    Side out(num_out, [&](int) { return elements; });
    Side in(num_in, [&](int) { return elements; });
    for (int round = 0; round < 3; ++round) {
      out.fill(1000.0 * test::world_rank() + 0.5 * round);
      neighbor_alltoallv(comm, out.data, out.counts, out.displs, in.data, in.counts, in.displs);
      std::vector<double> expected(in.data.size(), -1);
      MPI_Neighbor_alltoallv(out.data.data(), out.counts.data(), out.displs.data(), MPI_DOUBLE,
                             expected.data(), in.counts.data(), in.displs.data(), MPI_DOUBLE, comm);
      EXPECT_EQ(in.data, expected);
    }
  }
}

TEST_F(KeptCalls, NeighboursOfGridsAndGraphsAsMpi) { test::with_neighbours(expect_neighbours_as_mpi); }

/// In the first call all ranks have the same error, and the communicator stays good.
TEST_F(KeptCalls, FirstCallAgrees) {
  const Rank n = test::world_size();
  const bool is_last = test::world_rank() == n - 1;
  const std::string last = "rank " + std::to_string(n - 1);
  Side out(n, [](int) { return 2; });
  Side in(n, [](int) { return 2; });
  out.counts[0] = is_last ? -1 : 2;
  test::expect_same_error(
      ErrorCode::invalid_argument, last + ": send: block 0, to rank 0, has -1 elements",
      [&] { alltoallv(comm_, out.data, out.counts, out.displs, in.data, in.counts, in.displs); });
  out.counts[0] = is_last ? 0 : 2;
  test::expect_same_error(ErrorCode::mismatch, last + " -> rank 0: 0 bytes are sent, 16 are expected", [&] {
    alltoallv(comm_, out.data, out.counts, out.displs, in.data, in.counts, in.displs);
  });
  out.counts[0] = 2;
  expect_as_mpi(comm_, out, in, 3);
}

/// Later the rank at fault tells the others, in this call or the next one; from there on all calls fail.
TEST_F(KeptCalls, LaterErrorsReachAllRanks) {
  const Rank n = test::world_size();
  const bool is_last = test::world_rank() == n - 1;
  Side out(n, [](int) { return 5000; });
  Side in(n, [](int) { return 5000; });
  expect_as_mpi(comm_, out, in, 3);
  const std::vector<int> good = out.counts;
  if (is_last) out.counts[0] = -1;
  for (int call = 0; call < 3; ++call) {
    const auto again = [&] {
      alltoallv(comm_, out.data, out.counts, out.displs, in.data, in.counts, in.displs);
    };
    test::expect_error(ErrorCode::invalid_argument,
                       "rank " + std::to_string(n - 1) + ": send: block 0, to rank 0, has -1 elements",
                       again);
    out.counts = good;
  }
}

/// Doubles in memory that is unmapped when it is freed: a rank that reads it then ends the program.
class Pages {
 public:
  explicit Pages(std::size_t count) : bytes_(count * sizeof(double)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(data_, bytes_); }
  std::span<double> get() const { return {static_cast<double*>(data_), bytes_ / sizeof(double)}; }

 private:
  std::size_t bytes_;
  void* data_;
};

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

/// Stops this process for so long, once, wherever it is a millisecond from now.
void stop_soon(int ms) {
  static int stop_ms;
  stop_ms = ms;
  std::signal(SIGALRM, [](int) { sleep_ms(stop_ms); });
  const itimerval timer = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 1000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

/// Rank 0 is in the call and has no core when the others hear of the
/// error, or it comes to its call much later.
TEST_F(KeptCalls, BuffersMayBeFreedAfterAnError) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  if (n < 3) return;
  const int each = 20000;
  for (const bool is_late : {false, true}) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(comm_, &comm);
    std::vector<int> counts(static_cast<std::size_t>(n), each);
    std::vector<int> displs;
    for (int i = 0; i < n; ++i) displs.push_back(each * i);
    std::optional<Pages> out(static_cast<std::size_t>(each * n));
    std::optional<Pages> in(static_cast<std::size_t>(each * n));
    const auto call = [&] { alltoallv(comm, out->get(), counts, displs, in->get(), counts, displs); };
    call();
    MPI_Barrier(comm_);
    if (me == 0 && is_late) sleep_ms(1200);
    if (me == 0 && !is_late) stop_soon(40);
    if (me > 0) sleep_ms(me == n - 1 ? 10 : 5);
    if (me == n - 1) counts[0] = -1;
    test::expect_error(ErrorCode::invalid_argument, " has -1 elements", call);
    out.reset();
    in.reset();
    sleep_ms(me == 0 ? 0 : 50);
    MPI_Comm_free(&comm);
    MPI_Barrier(comm_);
  }
}

/// Ranks that were done with the call hear of it in their first call with neighbours, which waits for all.
TEST_F(KeptCalls, LaterErrorsReachFirstCallsWithNeighbours) {
  const Rank n = test::world_size();
  const bool is_last = test::world_rank() == n - 1;
  const std::array<int, 1> sizes = {n};
  const std::array<int, 1> periods = {1};
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(comm_, 1, sizes.data(), periods.data(), 0, &ring);
  Side out(n, [](int) { return 0; });
  Side in(n, [](int) { return 0; });
  expect_as_mpi(ring, out, in, 3);
  MPI_Barrier(comm_);  // without messages no rank waits for others in the call above
  if (is_last) out.counts[0] = -1;
  for (int call = 0; call < 2; ++call)  // the second one waits for none
    test::expect_error(ErrorCode::invalid_argument, "block 0, to rank 0, has -1 elements", [&] {
      alltoallv(ring, out.data, out.counts, out.displs, in.data, in.counts, in.displs);
      Side to(2, [](int) { return 5; });
      Side from(2, [](int) { return 5; });
      neighbor_alltoallv(ring, to.data, to.counts, to.displs, from.data, from.counts, from.displs);
    });
  MPI_Comm_free(&ring);
}

/// Rank 1 sends rank 0 `sent` elements, which expects others, after a call in which all was well.
void expect_mismatch(MPI_Comm parent, int sent, int expected, const std::string& text) {
  const Rank n = test::world_size();
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(parent, &comm);
  Side out(n, [&](int) { return std::max(sent, expected); });
  Side in(n, [&](int) { return std::max(sent, expected); });
  expect_as_mpi(comm, out, in, 3);
  if (test::world_rank() == 0) in.counts[1] = expected;
  if (test::world_rank() == 1) out.counts[0] = sent;
  test::expect_error(ErrorCode::mismatch, text, [&] {
    for (int call = 0; call < 3; ++call)
      alltoallv(comm, out.data, out.counts, out.displs, in.data, in.counts, in.displs);
  });
  MPI_Barrier(parent);
  MPI_Comm_free(&comm);
}

TEST_F(KeptCalls, LaterMismatchNamesThePair) {
  if (test::world_size() == 1) return;
  for (const int base : {5, 100000}) {
    expect_mismatch(comm_, base, base - 2, "rank 1 -> rank 0: ");
    expect_mismatch(comm_, base, base + 2, "rank 1 -> rank 0: ");
  }
  // Of which one goes through memory and one does not.
  expect_mismatch(comm_, 5, 100000, "rank 1 -> rank 0: ");
  expect_mismatch(comm_, 100000, 5, "rank 1 -> rank 0: ");
  // Between hosts a message that is not sent is waited for.
  if (std::getenv("NUICE_OPTIONS") != nullptr) return;
  expect_mismatch(comm_, 0, 4, "rank 1 -> rank 0: 0 bytes are sent, 32 are expected");
}

TEST_F(KeptCalls, WrongCommunicators) {
  const std::vector<int> none;
  std::vector<double> memory;
  for (const MPI_Comm comm : {MPI_COMM_NULL, comm_})
    test::expect_error(ErrorCode::invalid_argument,
                       comm == MPI_COMM_NULL ? "MPI_COMM_NULL" : "the communicator has no topology",
                       [&] { neighbor_alltoallv(comm, memory, none, none, memory, none, none); });
}

}  // namespace
}  // namespace nuice
