// SPDX-License-Identifier: BSD-3-Clause
// Compares the set of flipped sites after every cluster, site by site: a plain breadth-first search, the
// sequential program, and every scheme, kind of synchronisation, width and grain on the ranks of this test.
#include <Random123/threefry.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <deque>
#include <numeric>
#include <string>

#include "wolff/engine.hpp"
#include "wolff/statistics.hpp"

namespace nuice::wolff {
namespace {

/// Flips a cluster without the programs' code, except for its first site.
std::size_t flip_plainly(std::vector<Spin>& spins, std::size_t n, double beta, std::uint64_t seed,
                         std::uint64_t cluster) {
  const double p = 1 - std::exp(-2 * beta);
  const auto root = static_cast<std::size_t>(first_site(cluster, seed, n * n));
  const Spin s = spins[root];
  std::deque<std::size_t> queue = {root};
  spins[root] ^= 3;
  std::size_t flipped = 0;
  for (; !queue.empty(); queue.pop_front(), ++flipped) {
    const std::size_t site = queue.front();
    const std::size_t row = site % n;
    const std::size_t column = site / n;
    const std::size_t beside[4] = {column * n + (row + n - 1) % n, column * n + (row + 1) % n,
                                   (column + n - 1) % n * n + row, (column + 1) % n * n + row};
    const auto made = threefry2x64_R(20, threefry2x64_ctr_t{{site, cluster}}, threefry2x64_key_t{{seed, 0}});
    for (std::size_t d = 0; d < 4; ++d) {
      const auto number = static_cast<std::uint32_t>(made.v[d / 2] >> (d % 2 * 32));
      if (spins[beside[d]] != s || number / 4294967296.0 >= p) continue;
      spins[beside[d]] ^= 3;
      queue.push_back(beside[d]);
    }
  }
  return flipped;
}

int size_of_world() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

struct Story {
  std::vector<std::vector<Spin>> states;
  std::vector<std::int64_t> sizes;
};

Story tell(std::int64_t n, double beta, std::uint64_t seed, int clusters) {
  Story story;
  std::vector<Spin> spins(static_cast<std::size_t>(n * n), 1);
  for (int c = 0; c < clusters; ++c) {
    story.sizes.push_back(static_cast<std::int64_t>(
        flip_plainly(spins, static_cast<std::size_t>(n), beta, seed, static_cast<std::uint64_t>(c))));
    story.states.push_back(spins);
  }
  return story;
}

TEST(Wolff, SequentialFlipsWhatAPlainSearchFlips) {
  for (const std::int64_t n : {2, 3, 17, 64})
    for (const double beta : {0.0, 0.3, critical_beta(), 10.0}) {
      const Story story = tell(n, beta, 5, 30);
      Lattice lattice(irregular::Stripes(n, n, 1), 0, {});
      Sequential sequential(lattice, {5, threshold(beta)});
      std::vector<Spin> spins(static_cast<std::size_t>(n * n));
      for (std::size_t c = 0; c < story.sizes.size(); ++c) {
        ASSERT_EQ(sequential.flip(c), story.sizes[c]);
        lattice.store(spins);
        ASSERT_EQ(spins, story.states[c]) << "size " << n << " beta " << beta << " cluster " << c;
      }
    }
}

void expect_story(const Way& way, std::int64_t n, std::int64_t width, const Story& story) {
  SCOPED_TRACE(way.word + " " + std::string(name_of(way.scheme.sync)) + " delta " +
               std::to_string(way.delta) + " grain " + std::to_string(way.grain) + " width " +
               std::to_string(width));
  const irregular::Stripes stripes(n, width, size_of_world());
  with_engine(MPI_COMM_WORLD, way, stripes, {7, threshold(0.43)}, [&](Engine& engine) {
    for (std::size_t c = 0; c < story.sizes.size(); ++c) {
      std::int64_t flipped = engine.flip(c);
      MPI_Allreduce(MPI_IN_PLACE, &flipped, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(flipped, story.sizes[c]);
      EXPECT_EQ(gather(MPI_COMM_WORLD, engine.lattice()), story.states[c]) << "cluster " << c;
      EXPECT_EQ(fingerprint(MPI_COMM_WORLD, engine.lattice()), fingerprint(story.states[c]));
    }
    // Energy and magnetisation are computed again from the spins.
    const std::vector<Spin>& spins = story.states.back();
    const auto value = [&](std::int64_t c, std::int64_t r) {
      return spins[static_cast<std::size_t>(c % n * n + r % n)] == 1 ? 1 : -1;
    };
    Observed expected;
    for (std::int64_t c = 0; c < n; ++c)
      for (std::int64_t r = 0; r < n; ++r) {
        expected.bonds += value(c, r) * (value(c + 1, r) + value(c, r + 1));
        expected.magnetisation += value(c, r);
      }
    const Observed seen = observe(MPI_COMM_WORLD, engine, stripes);
    EXPECT_EQ(seen.bonds, expected.bonds);
    EXPECT_EQ(seen.magnetisation, expected.magnetisation);
  });
}

TEST(Wolff, EverySchemeFlipsTheSameSites) {
  constexpr std::int64_t n = 20;
  const Story story = tell(n, 0.43, 7, 6);
  const bool many = size_of_world() > 3;
  for (const irregular::SchemeRow& row : irregular::schemes())
    for (const irregular::Sync sync :
         {irregular::Sync::local, irregular::Sync::global, irregular::Sync::none})
      for (const std::int64_t width :
           many ? std::vector<std::int64_t>{2} : std::vector<std::int64_t>{1, 3, 7, 30}) {
        const bool levels = sync != irregular::Sync::none;
        Way way{
            std::string(row.name), {.name = std::string(row.name), .sync = sync, .buffer_bytes = 64}, 2, 0};
        if (!levels && (!row.active_messages || row.name == "AMP-C-NO")) continue;
        expect_story(way, n, width, story);
        way.delta = levels ? 1 : 0;
        way.grain = 5;
        expect_story(way, n, width, story);
      }
}

TEST(Statistics, ErrorsOfCorrelatedSamples) {
  // x[i+1] = a x[i] + noise: tau = (1 + a) / (1 - a) / 2.
  constexpr double a = 0.8;
  std::vector<double> samples(200000);
  double x = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto made = threefry2x64_R(20, threefry2x64_ctr_t{{i, 0}}, threefry2x64_key_t{{1, 2}});
    x = a * x + static_cast<double>(made.v[0]) / 18446744073709551616.0 - 0.5;
    samples[i] = x;
  }
  const Estimate e = estimate(samples);
  EXPECT_NEAR(e.autocorrelation, 4.5, 0.3);
  EXPECT_LT(std::abs(pull(e, 0)), 4);
  EXPECT_NEAR(e.error, std::sqrt(9 / 12.0 / (1 - a * a) / 200000), 0.1 * e.error);
  EXPECT_EQ(pull(estimate(std::vector<double>(10, 3.0)), 3), 0);
}

TEST(Statistics, ExactValues) {
  EXPECT_NEAR(exact_energy(4, critical_beta()), -1.56562378764, 1e-8);
  EXPECT_NEAR(exact_energy(64, critical_beta()), -1.42393838983, 1e-8);
  EXPECT_NEAR(exact_energy(512, critical_beta()), -1.41542926291, 1e-8);
  EXPECT_NEAR(exact_energy(16, 0.40), -1.13131798441, 1e-8);
  EXPECT_NEAR(exact_energy(64, 0.45), -1.51302794499, 1e-8);
  double energy = 0;
  double square = 0;
  double all = 0;
  for (const auto& [state, probability] : enumerate_4x4(0.20)) {
    all += probability;
    energy -= probability * state.first / 16;
    square += probability * state.second * state.second / 16;
  }
  EXPECT_NEAR(all, 1, 1e-12);
  EXPECT_NEAR(square, 2.803191649485, 1e-10);
  EXPECT_NEAR(energy, exact_energy(4, 0.20), 1e-8);
  EXPECT_GT(chi_squared_pull({{{32, 16}, 10000}}, enumerate_4x4(0.20)), 4);
  EXPECT_GT(chi_squared_pull({{{31, 16}, 10000}}, enumerate_4x4(0.20)), 4) << "no such state";
}

}  // namespace
}  // namespace nuice::wolff
