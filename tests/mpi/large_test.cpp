// SPDX-License-Identifier: BSD-3-Clause
// One message of more than 2 GiB. Needs about 5 GB of memory.
#include "mpi/mpi_support.hpp"

namespace nuice {
namespace {

TEST(LargeMessage, MoreThanAnIntCountsIsCarried) {
  const Bytes bytes = (Bytes{1} << 31) + 12'345;
  const auto size = static_cast<std::size_t>(bytes);
  const Rank rank = test::world_rank();
  const std::vector<Partner> destinations =
      rank == 0 ? std::vector<Partner>{{1, bytes}} : std::vector<Partner>{};
  mpi::Plan plan(MPI_COMM_WORLD, destinations, {.scheduler = "coloring"});
  const auto word = [](std::size_t i) { return static_cast<unsigned char>((i * 2654435761U) >> 24); };
  std::vector<unsigned char> data(size, 0xEE);
  std::vector<SendBuffer> send;
  std::vector<ReceiveBuffer> receive;
  if (rank == 0) {
    for (std::size_t i = 0; i < size; ++i) data[i] = word(i);
    send.push_back({data.data(), bytes});
  } else {
    receive.push_back({data.data(), bytes});
  }
  mpi::Exchange exchange = plan.bind(send, receive);
  exchange.start();
  exchange.wait();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < size; ++i) wrong += data[i] != word(i) ? 1U : 0U;
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace nuice
