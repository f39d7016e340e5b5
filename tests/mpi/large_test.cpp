// SPDX-License-Identifier: BSD-3-Clause
// Messages of more than 2 GiB: there, back by another executor, and to itself; and messages that lie further
// apart than that. Needs about 5 GB of memory.
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "mpi/mpi_support.hpp"

namespace nuice {
namespace {

constexpr std::int64_t num_words = (std::int64_t{1} << 28) + 1543;
constexpr Bytes large = num_words * 8 + 1;  // the last byte is a piece of its own of any power of two
using Words = std::vector<std::uint64_t>;

Words make_words(std::uint64_t factor) {
  Words words(static_cast<std::size_t>(num_words) + 1);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * factor;
  return words;
}

std::size_t num_wrong(const Words& words, std::uint64_t factor, std::size_t size) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < size; ++i) wrong += words[i] != i * factor ? 1U : 0U;
  return wrong;
}

/// From rank 0 to rank 1 by phases, and back, in chunks between ranks of one
/// host, more than there are slots for.
TEST(LargeMessage, MoreThanAnIntCountsIsCarriedThereAndBack) {
  const Rank rank = test::world_rank();
  const std::vector<Partner> destinations =
      rank == 0 ? std::vector<Partner>{{1, large}} : std::vector<Partner>{};
  mpi::Plan plan(MPI_COMM_WORLD, destinations, {.scheduler = "coloring"});
  mpi::Plan plan_back(MPI_COMM_WORLD, destinations,
                      {.scheduler = "coloring", .executor = "async", .hosts = "2"});
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;
  Words words = make_words(rank == 0 ? factor : 0);
  const auto size = static_cast<std::size_t>(num_words);
  words.back() = rank == 0 ? 7 : 0xEE;
  const std::vector<SendBuffer> send = {{words.data(), large}};
  const std::vector<ReceiveBuffer> receive = {{words.data(), large}};
  const std::span<const SendBuffer> no_send;
  const std::span<const ReceiveBuffer> no_receive;
  mpi::Exchange there = rank == 0 ? plan.bind(send, no_receive) : plan.bind(no_send, receive);
  there.start();
  there.wait();
  EXPECT_EQ(num_wrong(words, factor, size), 0U);
  if (rank == 0) std::ranges::fill(words, 0);
  mpi::Exchange back = rank == 0 ? plan_back.bind(no_send, receive, mpi::Direction::backwards)
                                 : plan_back.bind(send, no_receive, mpi::Direction::backwards);
  back.start();
  back.wait();
  EXPECT_EQ(num_wrong(words, factor, size), 0U);
  EXPECT_EQ(words.back() & 0xFF, 7U);
}

/// By MPI, as the message has a datatype.
TEST(LargeMessage, MoreThanAnIntCountsIsCarriedToItself) {
  const Rank rank = test::world_rank();
  MPI_Barrier(MPI_COMM_WORLD);  // the other test's memory is free
  const std::vector<Partner> destinations =
      rank == 0 ? std::vector<Partner>{{0, large}} : std::vector<Partner>{};
  mpi::Plan plan(MPI_COMM_WORLD, destinations, {.scheduler = "coloring"});
  constexpr std::uint64_t factor = 0xD1B54A32D192ED03;
  const Words from = rank == 0 ? make_words(factor) : Words{};
  Words to(from.size());
  const std::vector<std::int64_t> counts(destinations.size(), large);
  const mpi::SendField send{from.data(), MPI_BYTE, counts};
  const mpi::ReceiveField receive{to.data(), MPI_BYTE, counts};
  mpi::Exchange exchange = plan.bind(std::span(&send, 1), std::span(&receive, 1));
  exchange.start();
  exchange.wait();
  if (rank != 0) return;
  EXPECT_EQ(num_wrong(to, factor, static_cast<std::size_t>(num_words)), 0U);
  EXPECT_EQ(to.back(), from.back() & 0xFF);
}

/// Messages that lie more than 2 GiB apart in an array and in fields, on both sides. Pages
/// that are never written cost nothing.
TEST(LargeOffsets, AreBeyondWhatAnIntCounts) {
  const Rank rank = test::world_rank();
  MPI_Barrier(MPI_COMM_WORLD);  // the other tests' memory is free
  constexpr Bytes size = 100'000;
  const Bytes far = (Bytes{1} << 31) + 8;
  const std::vector<Partner> everybody = {{0, size}, {1, size}};
  const std::vector<Bytes> offsets = {2 * far, far};
  const Bytes room = 2 * far + size;
  const auto zeros = [room] {
    return std::unique_ptr<std::byte, decltype(&std::free)>(
        static_cast<std::byte*>(std::calloc(static_cast<std::size_t>(room), 1)), &std::free);
  };
  const auto letter = [](Rank from, Rank to, Bytes i) {
    return static_cast<std::byte>((7 * from + 3 * to + i) % 251 + 1);
  };
  for (const std::string executor : {"async", "phased", "pairwise", "depend"})
    for (const bool as_fields : {false, true}) {
      SCOPED_TRACE(executor + (as_fields ? ", fields" : ", arrays"));
      mpi::Plan plan(MPI_COMM_WORLD, everybody,
                     {.scheduler = "coloring", .executor = executor, .hosts = "1"});
      const auto from = zeros();
      const auto to = zeros();
      for (Rank other = 0; other < 2; ++other)
        for (Bytes i = 0; i < size; ++i)
          from.get()[offsets[static_cast<std::size_t>(other)] + i] = letter(rank, other, i);
      const std::vector<std::int64_t> counts = {size, size};
      const mpi::SendField send{from.get(), MPI_BYTE, counts, offsets};
      const mpi::ReceiveField receive{to.get(), MPI_BYTE, counts, offsets};
      mpi::Exchange exchange = as_fields ? plan.bind(std::span(&send, 1), std::span(&receive, 1))
                                         : plan.bind(mpi::SendArray{from.get(), room, offsets},
                                                     mpi::ReceiveArray{to.get(), room, offsets});
      exchange.start();
      exchange.wait();
      for (Rank other = 0; other < 2; ++other)
        for (Bytes i = 0; i < size; ++i)
          ASSERT_EQ(to.get()[offsets[static_cast<std::size_t>(other)] + i], letter(other, rank, i))
              << other << " " << i;
    }
}

}  // namespace
}  // namespace nuice
