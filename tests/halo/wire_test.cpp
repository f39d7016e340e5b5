// SPDX-License-Identifier: BSD-3-Clause
// Fields that travel shorter: rounded as promised, added up as doubles,
// together with fields that travel as they are.
#include <cmath>
#include <functional>
#include <limits>

#include "halo/halo_support.hpp"

namespace nuice {
namespace {

using mpi::GlobalIndex;
using mpi::Halo;
using mpi::Wire;
using test::Entries;

/// To that many significant bits, ties to even: not by bits, as the library does it.
double rounded(double value, int bits) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
}

double as_it_arrives(double value, Wire wire) {
  if (wire == Wire::as_is) return value;
  return rounded(rounded(value, 24), wire == Wire::float32 ? 24 : 8);
}

std::vector<double> as_they_arrive(std::vector<double> values, Wire wire) {
  for (double& value : values) value = as_it_arrives(value, wire);
  return values;
}

const std::vector<GlobalIndex>& owned_here(const Entries& all) {
  return all.owned[static_cast<std::size_t>(test::world_rank())];
}

TEST(HaloWire, GathersAreRounded) {
  for (std::uint64_t seed = 30; seed < 36; ++seed) {
    const Entries all = test::entries_at_random(seed);
    Halo halo = test::halo_by_list(all);
    const auto ghosts = all.ghosts(test::world_rank());
    const auto odd = test::values_of<std::uint8_t>(owned_here(all), 3, 1);  // what follows is not aligned
    const auto a = test::values_of<double>(owned_here(all), 2, 2);
    const auto b = test::values_of<double>(owned_here(all), 1, 3);
    std::vector<std::uint8_t> ghost_odd(ghosts.size() * 3);
    std::vector<double> ghost_a(ghosts.size() * 2);
    std::vector<double> ghost_b(ghosts.size());
    std::vector<double> ghost_exact(ghosts.size());
    auto gather = halo.bind_gather(std::vector<mpi::GatherField>{
        mpi::gather_field(odd, ghost_odd, 3), mpi::gather_field(a, ghost_a, 2, Wire::bfloat16),
        mpi::gather_field(b, ghost_b, 1, Wire::float32), mpi::gather_field(b, ghost_exact)});
    EXPECT_EQ(gather.wire_roundoff(), 0x1p-8);
    for (int round = 0; round < 2; ++round) {
      gather.start();
      gather.wait();
      EXPECT_EQ(ghost_odd, test::values_of<std::uint8_t>(ghosts, 3, 1));
      EXPECT_EQ(ghost_a, as_they_arrive(test::values_of<double>(ghosts, 2, 2), Wire::bfloat16));
      EXPECT_EQ(ghost_b, as_they_arrive(test::values_of<double>(ghosts, 1, 3), Wire::float32));
      EXPECT_EQ(ghost_exact, test::values_of<double>(ghosts, 1, 3));
    }
  }
}

TEST(HaloWire, ContributionsAreAddedUpAsDoubles) {
  for (const Wire wire : {Wire::float32, Wire::bfloat16}) {
    const Entries all = test::entries_at_random(41);
    Halo halo = test::halo_by_list(all);
    const auto salt = 100 + static_cast<std::uint64_t>(test::world_rank());
    const auto give = test::values_of<double>(all.ghosts(test::world_rank()), 2, salt);
    auto sum = test::values_of<double>(owned_here(all), 2);
    auto exact = sum;
    auto scatter = halo.bind_scatter(std::vector<mpi::ScatterField>{
        mpi::scatter_field(give, exact, 2), mpi::scatter_field(give, sum, 2, std::plus<>(), wire)});
    EXPECT_EQ(scatter.wire_roundoff(), mpi::unit_roundoff(wire));
    scatter.start();
    scatter.wait();
    EXPECT_EQ(exact, (test::scattered<double>(all, 2, std::plus<>())));
    const auto add = [wire](double mine_, double theirs) { return mine_ + as_it_arrives(theirs, wire); };
    EXPECT_EQ(sum, (test::scattered<double>(all, 2, add)));
  }
}

TEST(HaloWire, OtherValuesTravelAsTheyAre) {
  const Entries all = test::entries_at_random(42);
  Halo halo = test::halo_by_list(all);
  const auto ghosts = all.ghosts(test::world_rank());
  const auto owned = test::values_of<float>(owned_here(all), 1, 2);
  std::vector<float> got(ghosts.size());
  auto gather = halo.bind_gather(owned, got, 1, Wire::bfloat16);
  EXPECT_EQ(gather.wire_roundoff(), 0);
  gather.start();
  gather.wait();
  EXPECT_EQ(got, test::values_of<float>(ghosts, 1, 2));
}

/// Every rank has one entry, and needs that of the next rank.
TEST(HaloWire, KeepsWhatIsNoOrdinaryNumber) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const int self = test::world_rank();
  const int next = (self + 1) % test::world_size();
  if (next == self) GTEST_SKIP() << "one rank has no ghosts";
  Halo halo(MPI_COMM_WORLD, mpi::Ownership::list({self}), std::vector<GlobalIndex>{next});
  const std::vector<double> values = {infinite,   -infinite, std::nan(""), -0.0,     1e300,  1.00390625,
                                      1.01171875, 1e-300,    3.0e38,       -1.0 / 3, 65536.0};
  std::vector<double> got(values.size());
  const auto components = static_cast<int>(values.size());
  auto gather = halo.bind_gather(values, got, components, Wire::bfloat16);
  gather.start();
  gather.wait();
  EXPECT_EQ(got[0], infinite);
  EXPECT_EQ(got[1], -infinite);
  EXPECT_TRUE(std::isnan(got[2]));
  EXPECT_TRUE(got[3] == 0 && std::signbit(got[3]));
  EXPECT_EQ(got[4], infinite);
  EXPECT_EQ(got[5], 1.0) << "a tie goes to the even one";
  EXPECT_EQ(got[6], 1.015625) << "a tie goes to the even one";
  EXPECT_EQ(got[7], 0.0);
  EXPECT_NEAR(got[8], 3.0e38, 3.0e38 / 256);
  EXPECT_NEAR(got[9], -1.0 / 3, 1.0 / 3 / 256);
  EXPECT_EQ(got[10], 65536.0);
}

}  // namespace
}  // namespace nuice
