// SPDX-License-Identifier: BSD-3-Clause
// Specs of networks that are bad, too small or random text.
#include <gtest/gtest.h>

#include "nuice/core/networks.hpp"
#include "nuice/core/random.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

TEST(Specs, BadOnesAreErrorsOfOneLine) {
  using enum ErrorCode;
  EXPECT_ERROR(make_topology(""), invalid_argument, {"unknown topology \"\"", "hypercube"});
  EXPECT_ERROR(make_topology("ring:8"), invalid_argument, {"unknown topology \"ring\"; known: crossbar"});
  EXPECT_ERROR(make_topology("crossbar"), invalid_argument,
               {"\"\" is not a whole number", "expected crossbar:N"});
  EXPECT_ERROR(make_topology("crossbar:0"), invalid_argument, {"\"0\" is not a whole number from 1"});
  EXPECT_ERROR(make_topology("crossbar:-3"), invalid_argument, {"\"-3\""});
  EXPECT_ERROR(make_topology("hypercube:six"), invalid_argument, {"\"six\"", "hypercube:D"});
  EXPECT_ERROR(make_topology("hypercube:25"), limit, {"more than 16777216"});
  EXPECT_ERROR(make_topology("mesh:4x"), invalid_argument, {"\"\" is not a whole number", "mesh:K1"});
  EXPECT_ERROR(make_topology("torus:4x0x2"), invalid_argument, {"\"0\""});
  EXPECT_ERROR(make_topology("mesh:5000x5000x5000x5000x5000x5000x5000"), limit, {"more than"});
  EXPECT_ERROR(make_topology("fattree:4x4/3"), invalid_argument,
               {"thinning 3 : 1 does not divide the 4 children"});
  EXPECT_ERROR(make_topology("fattree:4x4/2x2"), invalid_argument,
               {"for 2 levels, there are 1 below the top"});
  EXPECT_ERROR(make_topology("fattree:4x4/2/2"), invalid_argument, {"more than one \"/\""});
  EXPECT_ERROR(make_topology("fattree:4000x5000"), limit, {"ranks and switches"});
  EXPECT_ERROR(make_topology("cm5:1.5"), invalid_argument, {"\"1.5\""});
  EXPECT_ERROR(make_topology("dragonfly:a=4,h=2"), invalid_argument, {"a=, h= and p= must be given"});
  EXPECT_ERROR(make_topology("dragonfly:a=4,h=2,p=2,a=4"), invalid_argument, {"\"a=\" is given twice"});
  EXPECT_ERROR(make_topology("dragonfly:a=4,h=2,p=2,q=2"), invalid_argument, {"\"q=2\" is not one of"});
  EXPECT_ERROR(make_topology("dragonfly:a=4,h=2,p=2,g=10"), invalid_argument,
               {"10 groups", "reach 8 others"});
  EXPECT_ERROR(make_topology("dragonfly:a=4,h=2,p=2,paths=0"), invalid_argument, {"\"0\""});
  EXPECT_ERROR(make_topology("dragonfly:a=4,h=2,p=2,paths=2,paths=3"), invalid_argument,
               {"\"paths=\" is given twice"});
  EXPECT_ERROR(make_topology("dragonfly:a=4000,h=4000,p=1"), limit, {"more than"});
  EXPECT_ERROR(make_topology("file:"), invalid_argument, {"name of the file is missing"});
  EXPECT_ERROR(make_topology("file:/no/such/file.net"), io, {"/no/such/file.net"});
}

TEST(Specs, TooSmallIsOneSentence) {
  const auto net = make_topology("hypercube:3");
  EXPECT_EQ(why_too_small(*net, 8), "");
  EXPECT_EQ(why_too_small(*net, 9), "topology hypercube:3 has 8 ranks, the matrix has 9");
}

// Random text around the alphabet of specs: an error or a network, never a crash.
TEST(Specs, RandomTextIsRefusedOrMakesANetwork) {
  Random random(1);
  const std::string letters = "0123456789x/:,=. -+ah";
  int made = 0;
  for (int i = 0; i < 20000; ++i) {
    const TopologyKind& kind = topology_kinds()[random.below(topology_kinds().size())];
    if (kind.name == "file") continue;
    std::string spec = std::string(kind.name) + ":";
    for (std::uint64_t n = random.below(6); n > 0; --n) spec += letters[random.below(letters.size())];
    try {
      const auto net = make_topology(spec);
      ++made;
      for (LinkId id = net->num_links() - 1; id >= 0; id = -1) EXPECT_GT(net->link(id).capacity, 0);
      EXPECT_LE(route_of(*net, net->num_ranks() - 1, 0).size(), static_cast<std::size_t>(net->num_links()));
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(made, 1000);
}

}  // namespace
}  // namespace nuice
