// SPDX-License-Identifier: BSD-3-Clause
// Networks by their spec: every route is made of links that there are, and leads through them in order.
#include "driver/target.hpp"
#include "nuice/core/networks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  const std::string_view spec = fuzz::text_of(data, size);
  // Files are for the target `network`; a terabyte is no matter of format.
  if (spec.starts_with("file")) return 0;
  return fuzz::expect_errors_only([&] {
    const auto topology = make_topology(spec);
    const Rank num_ranks = topology->num_ranks();
    fuzz::require(num_ranks > 0, "a network without ranks");
    if (num_ranks > 100'000) return;  // a line of these has routes as long
    std::vector<LinkId> route;
    for (const Rank src : {Rank{0}, num_ranks / 3, num_ranks - 1}) {
      for (const Rank dst : {num_ranks - 1, num_ranks / 2, Rank{0}}) {
        route.clear();
        topology->append_route(src, dst, route);
        fuzz::require(src != dst || route.empty(), "a route to itself");
        for (const LinkId link : route)
          fuzz::require(link >= 0 && link < topology->num_links(), "a link that is not there");
      }
    }
  });
}
