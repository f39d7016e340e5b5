// SPDX-License-Identifier: BSD-3-Clause
// Rates kept up to date against rates computed again, by a method of its own, after every change.
#include "machine/simulator/max_min.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "nuice/core/random.hpp"

namespace nuice::machine {
namespace {

struct Flow {
  double cap;
  std::vector<ResourceId> over;
};

/// Raises all rates together in steps; at each step those stop that have
/// reached their cap or a full resource.
std::map<FlowId, double> anew(const std::map<FlowId, Flow>& flows, std::vector<double> left) {
  std::map<FlowId, double> rates;
  std::map<FlowId, Flow> rising = flows;
  double level = 0;
  while (!rising.empty()) {
    std::vector<int> users(left.size(), 0);
    for (const auto& [id, flow] : rising) {
      for (const ResourceId r : flow.over) ++users[static_cast<std::size_t>(r)];
    }
    double step = 1e300;
    for (std::size_t r = 0; r < left.size(); ++r) {
      if (users[r] > 0) step = std::min(step, std::max(0.0, left[r]) / users[r]);
    }
    for (const auto& [id, flow] : rising) step = std::min(step, flow.cap - level);
    level += step;
    for (std::size_t r = 0; r < left.size(); ++r) left[r] -= step * users[r];
    std::map<FlowId, Flow> next;
    for (const auto& [id, flow] : rising) {
      const bool stops =
          flow.cap - level < 1e-9 ||
          std::ranges::any_of(
              flow.over, [&](ResourceId r) { return left[static_cast<std::size_t>(r)] < 1e-9; });
      if (stops) {
        rates[id] = level;
      } else {
        next[id] = flow;
      }
    }
    rising = std::move(next);
  }
  return rates;
}

class RandomChanges : public testing::TestWithParam<int> {};

TEST_P(RandomChanges, GiveTheRatesThatFillingAnewGives) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  const std::size_t num_resources = 4 + random.below(20);
  std::vector<double> capacities(num_resources);
  for (double& capacity : capacities) capacity = 1 + static_cast<double>(random.below(8));
  MaxMin rates(capacities);
  std::map<FlowId, Flow> flows;
  for (int change = 0; change < 300; ++change) {
    for (std::uint64_t several = random.below(3); several < 3; ++several) {
      const auto id = static_cast<FlowId>(random.below(40));
      if (flows.contains(id)) {
        rates.remove(id);
        flows.erase(id);
      } else {
        Flow flow{random.below(4) == 0 ? 0.3 : 2.0, {}};
        for (std::size_t r = 0; r < num_resources; ++r) {
          if (random.below(num_resources) < 3) flow.over.push_back(static_cast<ResourceId>(r));
        }
        rates.add(id, flow.cap, flow.over);
        flows[id] = flow;
      }
    }
    if (random.below(5) == 0) {
      const std::size_t r = random.below(num_resources);
      capacities[r] = static_cast<double>(random.below(8));  // 0 too: a port that stands still
      rates.set_capacity(static_cast<ResourceId>(r), capacities[r]);
    }
    rates.settle();
    for (const auto& [id, rate] : anew(flows, capacities)) {
      ASSERT_NEAR(rates.rate(id), rate, 1e-7) << "flow " << id << " after change " << change;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomChanges, testing::Range(0, 30));

TEST(MaxMin, ReportsWhatHasChangedOnly) {
  MaxMin rates({1.0, 1.0});
  const ResourceId first[] = {0};
  const ResourceId second[] = {1};
  rates.add(0, 1, first);
  rates.add(1, 1, second);
  EXPECT_EQ(rates.settle().size(), 2U);
  rates.add(2, 1, first);
  EXPECT_EQ(rates.settle().size(), 2U);  // 0 and 2
  EXPECT_EQ(rates.rate(0), 0.5);
  EXPECT_EQ(rates.rate(1), 1.0);
  EXPECT_TRUE(rates.settle().empty());
}

}  // namespace
}  // namespace nuice::machine
