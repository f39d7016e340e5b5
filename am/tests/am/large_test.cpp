// SPDX-License-Identifier: BSD-3-Clause
// Puts a block of more than 2 GiB into a port, with every transport. Needs about 5 GB of memory.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "nuice/am/port.hpp"
#include "nuice/mpi/am.hpp"

namespace nuice::test {
namespace {

class LargePut : public testing::TestWithParam<const char*> {};

TEST_P(LargePut, IsCarriedByteForByte) {
  constexpr std::size_t bytes = (std::size_t{1} << 31) + 5;
  const auto value = [](std::size_t at) {
    return static_cast<std::byte>((at * 0x9E3779B97F4A7C15U) >> 56U);  // without a period that a chunk could
                                                                       // have
  };
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<std::byte> block(bytes);
  if (rank == 0)
    for (std::size_t i = 0; i < bytes; ++i) block[i] = value(i);
  am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD, {.transport = GetParam()}));
  am::PortRef target;
  const auto here = ep.on<am::PortRef>("here", [&](am::Context&, const am::PortRef& ref) { target = ref; });
  ep.seal();
  if (rank == 0) {
    ep.poll_until([&] { return target.rank == 1; });
    ep.put(target, 0, block);
  } else {
    const am::Port port = ep.open_port(block, static_cast<Bytes>(bytes));
    ep.send(0, here, port.ref());
    ep.poll_until([&] { return port.complete(); });
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes; ++i) wrong += block[i] != value(i) ? 1U : 0U;
    EXPECT_EQ(wrong, 0U);
  }
  ep.quiesce();
}

INSTANTIATE_TEST_SUITE_P(Transports, LargePut, testing::Values("shm", "mpi"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace nuice::test
