// SPDX-License-Identifier: BSD-3-Clause
// Slurm's topology.conf.
#include "driver/input_file.hpp"
#include "nuice/core/networks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  static fuzz::InputFile file("network");
  const std::string& path = file.hold(fuzz::text_of(data, size));
  return fuzz::expect_errors_only([&] {
    const auto topology = make_topology("slurm:" + path);
    std::vector<LinkId> route;
    const Rank last = topology->num_ranks() - 1;
    topology->append_route(0, last, route);
    topology->append_route(last, 0, route);
    for (const LinkId link : route)
      fuzz::require(link >= 0 && link < topology->num_links(), "a link that is not there");
  });
}
