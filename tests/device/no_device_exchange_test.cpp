// SPDX-License-Identifier: BSD-3-Clause
// An exchange of a program without a GPU's driver opens none.
#include <fstream>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

TEST(NoDevice, ExchangesLoadNothing) {
  mpi::Plan plan(MPI_COMM_WORLD, std::vector<Partner>{{(test::world_rank() + 1) % test::world_size(), 1000}},
                 {});
  const std::vector<std::byte> send(1000);
  std::vector<std::byte> receive(1000);
  mpi::Exchange exchange =
      plan.bind(mpi::SendArray{send.data(), 1000, {}}, mpi::ReceiveArray{receive.data(), 1000, {}});
  exchange.start();
  exchange.wait();
  EXPECT_EQ(exchange.info().device, "");
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    for (const char* const name : {"libcuda", "libamdhip64", "libhiprtc"})
      EXPECT_EQ(line.find(name), std::string::npos) << line;
}

}  // namespace
}  // namespace nuice
