// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/patterns.hpp"

#include <set>

#include "support/throws.hpp"

namespace nuice {
namespace {

TEST(RandomRegular, EveryRankSendsAndReceivesTheDegree) {
  for (const Rank n : {1, 2, 3, 7, 32, 100}) {
    for (Rank degree = 0; degree < n; degree += n > 10 ? 9 : 1) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const CommMatrix matrix = random_regular(n, degree, {.unit_bytes = 5}, seed);
        for (Rank rank = 0; rank < n; ++rank) {
          ASSERT_EQ(matrix.sent_by(rank).size(), static_cast<std::size_t>(degree)) << n << " " << degree;
          ASSERT_EQ(matrix.received_by(rank).size(), static_cast<std::size_t>(degree)) << n << " " << degree;
          ASSERT_EQ(matrix.self_bytes(rank), 0);
        }
      }
    }
  }
}

TEST(RandomRegular, SeedsGiveDifferentMatricesAndTheSameOnceMore) {
  std::set<std::uint64_t> fingerprints;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    fingerprints.insert(random_regular(16, 4, {}, seed).fingerprint());
  EXPECT_EQ(fingerprints.size(), 50U);
  EXPECT_EQ(random_regular(16, 4, {}, 9), random_regular(16, 4, {}, 9));
}

TEST(RandomDensity, MeetsTheDensity) {
  const CommMatrix matrix = random_density(200, 0.25, {}, 1);
  EXPECT_NEAR(matrix.num_messages(), 0.25 * 200 * 199, 400);  // four standard deviations are 346
  EXPECT_EQ(random_density(20, 0, {}, 1).num_messages(), 0U);
  EXPECT_EQ(random_density(20, 1, {}, 1).num_messages(), 20U * 19U);
}

TEST(Sizes, AreMultiplesOfTheUnitUpToTheLargest) {
  const CommMatrix matrix = random_density(60, 0.5, {.unit_bytes = 100, .max_units = 32}, 4);
  std::set<Bytes> sizes;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) sizes.insert(matrix.bytes(id));
  EXPECT_EQ(sizes.size(), 32U);
  EXPECT_EQ(*sizes.begin(), 100);
  EXPECT_EQ(*sizes.rbegin(), 3200);
}

TEST(Patterns, RefuseBadArguments) {
  EXPECT_ERROR(random_regular(0, 0, {}, 1), ErrorCode::invalid_argument, {"number of ranks 0"});
  EXPECT_ERROR(random_regular(8, 8, {}, 1), ErrorCode::invalid_argument, {"degree 8", "0 to 7"});
  EXPECT_ERROR(random_regular(8, -1, {}, 1), ErrorCode::invalid_argument, {"degree -1"});
  EXPECT_ERROR(random_density(8, 1.5, {}, 1), ErrorCode::invalid_argument, {"density 1.5"});
  EXPECT_ERROR(random_density(8, 0.0 / 0.0, {}, 1), ErrorCode::invalid_argument, {"density"});
  EXPECT_ERROR(random_regular(1 << 30, 0, {}, 1), ErrorCode::limit, {"1073741824 ranks"});
  EXPECT_ERROR(random_density(1 << 30, 0, {}, 1), ErrorCode::limit, {"1073741824 ranks"});
  EXPECT_ERROR(random_density(8, 0.5, {.unit_bytes = 0}, 1), ErrorCode::invalid_argument, {"unit"});
  EXPECT_ERROR(random_density(8, 0.5, {.unit_bytes = max_bytes, .max_units = 2}, 1), ErrorCode::limit,
               {"2^62"});
}

}  // namespace
}  // namespace nuice
