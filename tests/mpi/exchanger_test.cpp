// SPDX-License-Identifier: BSD-3-Clause
// Unplanned exchanges: other messages each time, ranks that are not in step,
// several at once, and ends that differ.
#include "nuice/mpi/exchanger.hpp"

#include <chrono>
#include <numeric>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/core/random.hpp"

namespace nuice {
namespace {

using mpi::Exchanger;
using mpi::Incoming;
using mpi::Outgoing;

/// Every rank draws the same matrices, so both ends know every message.
struct Draw {
  Bytes bytes;
  std::uint8_t first;  // byte i is first + i
};
std::vector<std::vector<Draw>> draw_matrix(Random& rng, Rank n, Bytes most) {
  std::vector<std::vector<Draw>> all(static_cast<std::size_t>(n),
                                     std::vector<Draw>(static_cast<std::size_t>(n)));
  for (auto& row : all)
    for (Draw& each : row) {
      const std::uint64_t kind = rng.below(4);
      const auto limit = static_cast<std::uint64_t>(kind == 0 ? 1 : kind == 1 ? 200 : most);
      each = {static_cast<Bytes>(rng.below(limit)), static_cast<std::uint8_t>(rng.below(256))};
    }
  return all;
}

std::vector<std::uint8_t> bytes_of(const Draw& draw) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(draw.bytes));
  std::iota(bytes.begin(), bytes.end(), draw.first);
  return bytes;
}

/// This rank's part of one drawn exchange, with its memory.
class Part {
 public:
  explicit Part(const std::vector<std::vector<Draw>>& all) {
    const auto me = static_cast<std::size_t>(test::world_rank());
    for (std::size_t other = 0; other < all.size(); ++other) {
      sent_.push_back(bytes_of(all[me][other]));
      expected_.push_back(bytes_of(all[other][me]));
      came_.emplace_back(expected_.back().size(), std::uint8_t{0xEE});
      sends_.push_back({static_cast<Rank>(other), sent_.back().data(), std::ssize(sent_.back())});
      receives_.push_back({static_cast<Rank>(other), came_.back().data(), std::ssize(came_.back())});
    }
  }
  const std::vector<Outgoing>& sends() const { return sends_; }
  const std::vector<Incoming>& receives() const { return receives_; }
  void expect_received() const { EXPECT_EQ(came_, expected_); }

 private:
  std::vector<std::vector<std::uint8_t>> sent_;
  std::vector<std::vector<std::uint8_t>> expected_;
  std::vector<std::vector<std::uint8_t>> came_;
  std::vector<Outgoing> sends_;
  std::vector<Incoming> receives_;
};

void stop_for_a_while(Random& own) {
  if (own.below(8) == 0) std::this_thread::sleep_for(std::chrono::microseconds(own.below(500)));
}

TEST(Exchanger, OtherMessagesEachTime) {
  Exchanger exchanger(MPI_COMM_WORLD);
  Random rng(7);
  Random own(static_cast<std::uint64_t>(test::world_rank()) + 1);
  for (int round = 0; round < test::rounds(60, 200); ++round) {
    const Part part(draw_matrix(rng, test::world_size(), round % 5 == 0 ? 40'000 : 4'000));
    stop_for_a_while(own);
    exchanger.exchange(part.sends(), part.receives());
    part.expect_received();
  }
}

/// Started in one order, waited for in an order of each rank's own.
TEST(Exchanger, SeveralAtOnce) {
  Exchanger exchanger(MPI_COMM_WORLD);
  Random rng(8);
  Random own(static_cast<std::uint64_t>(test::world_rank()) + 1);
  for (int round = 0; round < 40; ++round) {
    std::vector<Part> parts;
    for (int i = 0; i < 5; ++i) parts.emplace_back(draw_matrix(rng, test::world_size(), 9'000));
    std::vector<mpi::Exchange> exchanges;
    for (const Part& part : parts) {
      exchanges.push_back(exchanger.bind(part.sends(), part.receives()));
      stop_for_a_while(own);
      exchanges.back().start();
    }
    std::vector<std::size_t> order(exchanges.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::swap(order[own.below(5)], order[own.below(5)]);
    for (const std::size_t i : order) exchanges[i].wait();
    for (const Part& part : parts) part.expect_received();
  }
}

TEST(Exchanger, AgainAndAgainWithNewContents) {
  Exchanger exchanger(MPI_COMM_WORLD);
  const Rank me = test::world_rank();
  const Rank n = test::world_size();
  std::vector<int> out(5000);
  std::vector<int> in(5000);
  const Outgoing send{(me + 1) % n, out.data(), 5000, MPI_INT};
  const Incoming receive{(me + n - 1) % n, in.data(), 5000, MPI_INT};
  auto exchange = exchanger.bind({&send, 1}, {&receive, 1});
  for (int round = 0; round < 50; ++round) {
    std::ranges::fill(out, 1000 * round + me);
    exchange.start();
    exchange.wait();
    EXPECT_EQ(in, std::vector<int>(5000, 1000 * round + (me + n - 1) % n));
  }
}

/// Elements that are packed at one end and lie as they travel at the other.
TEST(Exchanger, TypesMayDiffer) {
  Exchanger exchanger(MPI_COMM_WORLD);
  const Rank me = test::world_rank();
  const Rank n = test::world_size();
  MPI_Datatype column;
  MPI_Type_vector(300, 2, 5, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  std::vector<double> matrix(1500);
  std::iota(matrix.begin(), matrix.end(), 1000.0 * me);
  std::vector<double> in(600);
  const Outgoing send{(me + 1) % n, matrix.data(), 1, column};
  const Incoming receive{(me + n - 1) % n, in.data(), 600, MPI_DOUBLE};
  exchanger.exchange({&send, 1}, {&receive, 1});
  for (std::size_t i = 0; i < 600; ++i)
    EXPECT_EQ(in[i], 1000.0 * ((me + n - 1) % n) + static_cast<double>(i / 2 * 5 + i % 2));
  MPI_Type_free(&column);
}

TEST(Exchanger, SeveralMessagesOfOnePair) {
  Exchanger exchanger(MPI_COMM_WORLD);
  const Rank me = test::world_rank();
  std::vector<std::vector<int>> out;
  std::vector<std::vector<int>> in(6);
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  for (int i = 0; i < 6; ++i) out.emplace_back(i * 400, 10 * me + i);
  for (std::size_t i = 0; i < 6; ++i) {
    in[i].resize(out[i].size());
    sends.push_back({0, out[i].data(), std::ssize(out[i]), MPI_INT});
  }
  std::vector<std::vector<int>> all;
  for (Rank r = 0; me == 0 && r < test::world_size(); ++r)
    for (int i = 0; i < 6; ++i) all.emplace_back(i * 400, -1);
  for (std::size_t k = 0; k < all.size(); ++k)
    receives.push_back({static_cast<Rank>(k / 6), all[k].data(), std::ssize(all[k]), MPI_INT});
  exchanger.exchange(sends, receives);
  for (std::size_t k = 0; k < all.size(); ++k)
    EXPECT_EQ(all[k], std::vector<int>(k % 6 * 400, static_cast<int>(10 * (k / 6) + k % 6)));
}

/// A rank that has no message in an exchange need not know of it.
TEST(Exchanger, RanksMayStayAway) {
  if (test::world_size() < 3) GTEST_SKIP();
  Exchanger exchanger(MPI_COMM_WORLD);
  const Rank me = test::world_rank();
  std::vector<char> data(30'000, static_cast<char>(me));
  for (int round = 0; round < 5; ++round) {
    if (me == 0) {
      const Outgoing send{1, data.data(), 30'000};
      exchanger.exchange({&send, 1}, {});
    } else if (me == 1) {
      std::vector<char> in(30'000, 'x');
      const Incoming receive{0, in.data(), 30'000};
      exchanger.exchange({}, {&receive, 1});
      EXPECT_EQ(in, std::vector<char>(30'000, 0));
    }
  }
  Random rng(3);
  const Part all(draw_matrix(rng, test::world_size(), 5000));
  exchanger.exchange(all.sends(), all.receives());
  all.expect_received();
}

/// One by one as they land, each source with the last of its messages.
TEST(Exchanger, HandsOverWhatHasLanded) {
  Random rng(9);
  for (const double watchdog_s : {0.0, 30.0}) {
    Exchanger watching(MPI_COMM_WORLD, {.watchdog_s = watchdog_s});
    const Part part(draw_matrix(rng, test::world_size(), 9'000));
    mpi::Exchange exchange = watching.bind(part.sends(), part.receives());
    for (int round = 0; round < 3; ++round) {
      exchange.start();
      std::vector<Rank> from;
      while (const auto arrival = exchange.next()) from.push_back(arrival->source.rank);
      std::ranges::sort(from);
      std::vector<Rank> expected;
      for (const Incoming& each : part.receives())
        if (each.count > 0) expected.push_back(each.from);
      EXPECT_EQ(from, expected);
      part.expect_received();
    }
  }
}

/// The receiver is told, whether too little comes or too much; nothing goes on after that.
TEST(Exchanger, EndsThatDiffer) {
  if (test::world_size() != 2) GTEST_SKIP() << "the other ranks would wait";
  for (const auto& [sent, expected] :
       {std::pair{50, 70}, {70, 50}, {5000, 3000}, {3000, 5000}, {90000, 50}}) {
    Exchanger exchanger(MPI_COMM_WORLD);
    std::vector<char> data(90000);
    const Outgoing send{1, data.data(), sent};
    const Incoming receive{0, data.data(), expected};
    if (test::world_rank() == 0) {
      exchanger.exchange({&send, 1}, {});
    } else {
      test::expect_error(ErrorCode::mismatch, "rank 0 -> rank 1",
                         [&] { exchanger.exchange({}, {&receive, 1}); });
      test::expect_error(ErrorCode::state, "has failed before", [&] { exchanger.exchange({}, {}); });
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Exchanger, BadInput) {
  test::expect_same_error(ErrorCode::invalid_argument, "watchdog",
                          [] { Exchanger(MPI_COMM_WORLD, {.watchdog_s = -1}); });
  Exchanger exchanger(MPI_COMM_WORLD);
  const Outgoing outside{test::world_size(), nullptr, 1};
  test::expect_error(ErrorCode::invalid_argument, "a message to rank",
                     [&] { exchanger.bind({&outside, 1}, {}); });
  const Incoming negative{0, nullptr, -1};
  test::expect_error(ErrorCode::invalid_argument, "-1 elements", [&] { exchanger.bind({}, {&negative, 1}); });
  Exchanger moved(std::move(exchanger));
  test::expect_error(ErrorCode::state, "moved",
                     [&] { exchanger.bind({}, {}); });  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace nuice
