// SPDX-License-Identifier: BSD-3-Clause
// The emulated switches against published figures, closed forms and laws. A packet takes 1000 ns here.
#include "lossless/fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "nuice/core/networks.hpp"
#include "nuice/core/random.hpp"

namespace nuice::lossless {
namespace {

constexpr std::uint32_t packet = 125;
constexpr Time slot = 1000;
constexpr double rate = 1e9;

struct Setting {
  std::string topology;
  Rules rules;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const char* topology : {"crossbar:8", "fattree:4x4/2", "torus:4x4", "dragonfly:a=2,h=1,p=2,paths=3"})
    for (const Flow flow : {Flow::credits, Flow::pfc})
      for (const bool voq : {false, true})
        for (const bool cut_through : {false, true})
          all.push_back({topology, {rate, 4, flow, voq, cut_through}});
  return all;
}

/// Of one input-queued switch whose inputs always have a packet for an output drawn evenly.
double saturation(int ports, bool voq, int slots) {
  const auto topology = make_topology("crossbar:" + std::to_string(ports));
  const Cabling cabling(*topology, ports);
  Fabric fabric(cabling, {rate, 64, Flow::credits, voq, false});
  for (Rank src = 0; src < ports; ++src)
    for (Rank dst = 0; dst < ports; ++dst) fabric.add_flow(src, dst, no_path);
  Random random(1);
  std::uint64_t delivered = 0;
  const int warm_up = slots / 4;
  for (int i = 0; i < warm_up + slots; ++i) {
    for (Rank src = 0; src < ports; ++src)
      if (fabric.waiting(src) == 0)
        fabric.send(static_cast<std::uint32_t>(src * ports) +
                        static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(ports))),
                    packet, 0, i * slot);
    fabric.run_until(i * slot + slot, [&](auto...) { delivered += i >= warm_up ? 1 : 0; });
  }
  return static_cast<double>(delivered) / (static_cast<double>(slots) * ports);
}

TEST(LosslessFabric, FirstInFirstOutSaturatesAsKarolSays) {  // Karol, Hluchyj and Morgan 1987, table I
  EXPECT_NEAR(saturation(2, false, 60000), 0.75, 0.02 * 0.75);
  EXPECT_NEAR(saturation(4, false, 60000), 0.6553, 0.02 * 0.6553);
  EXPECT_NEAR(saturation(8, false, 40000), 0.6184, 0.02 * 0.6184);
  EXPECT_NEAR(saturation(32, false, 10000), 0.5900, 0.02 * 0.5900);  // on the way to 0.586
  EXPECT_GT(saturation(16, true, 10000), 0.95);
}

TEST(LosslessFabric, EveryPacketArrivesOnceAndInOrder) {
  for (const auto& [name, rules] : settings()) {
    const auto topology = make_topology(name);
    const Rank hosts = topology->num_ranks();
    const Cabling cabling(*topology, hosts);
    Fabric fabric(cabling, rules);
    Random random(7);
    std::map<Fabric::FlowId, std::uint32_t> sent;
    std::map<Fabric::FlowId, std::uint32_t> came;
    for (Rank src = 0; src < hosts; ++src)
      for (Rank dst = 0; dst < hosts; ++dst)
        if (src != dst)
          for (std::int64_t path = no_path; path < cabling.num_paths(src, dst); ++path)
            sent[fabric.add_flow(src, dst, path)] = 0;
    std::uint64_t delivered = 0;
    const auto arrive = [&](Fabric::FlowId flow, std::uint32_t tag, Time) {
      EXPECT_EQ(tag, came[flow]++) << name;
      ++delivered;
    };
    for (int i = 0; i < 20000; ++i) {  // far more than it can carry
      const auto flow = static_cast<Fabric::FlowId>(random.below(sent.size()));
      fabric.send(flow, 1 + static_cast<std::uint32_t>(random.below(2 * packet)), sent[flow]++, i * 10);
      fabric.run_until(i * 10 + 10, arrive);
      if (i % 1000 == 0) {
        ASSERT_EQ(fabric.inside() + delivered, fabric.sent()) << name;
      }
    }
    fabric.run_until(never - 1, arrive);
    EXPECT_EQ(delivered, 20000U) << name << ": the rest waits forever";
    EXPECT_EQ(came, sent) << name;
    EXPECT_EQ(fabric.inside(), 0U) << name;
    EXPECT_LE(fabric.most_buffered(), rules.buffer) << name;
  }
}

TEST(LosslessFabric, OnePacketTakesItsHops) {
  const auto topology = make_topology("fattree:4x4");
  const Cabling cabling(*topology, 16);
  for (const bool cut_through : {false, true}) {
    Fabric fabric(cabling, {rate, 4, Flow::credits, false, cut_through});
    const auto flow = fabric.add_flow(0, 15, no_path);
    for (std::uint32_t i = 0; i < 10; ++i) fabric.send(flow, packet, i, 5);
    Time last = 0;
    fabric.run_until(never - 1, [&](auto, auto, Time at) { last = at; });
    EXPECT_EQ(last, 5 + (cut_through ? 10 : 13) * slot);  // in, up, down, out
  }
}

TEST(LosslessFabric, AShiftWithoutContentionIsCarriedAtTheFullRate) {
  const auto topology = make_topology("fattree:4x4");
  const Cabling cabling(*topology, 16);
  for (const Flow flow : {Flow::credits, Flow::pfc}) {
    Fabric fabric(cabling, {rate, 4, flow, false, true});
    for (Rank src = 0; src < 16; ++src) fabric.add_flow(src, (src + 5) % 16, no_path);
    for (std::uint32_t i = 0; i < 16000; ++i) fabric.send(i % 16, packet, i, 0);
    Time last = 0;
    fabric.run_until(never - 1, [&](auto, auto, Time at) { last = at; });
    EXPECT_EQ(last, 1000 * slot);
  }
}

/// Time of 1000 packets from host 0 to 2 while a given number of others send to host
/// 1, all of one switch of FIFO inputs.
Time victim(bool voq, bool also_to_the_hot_one) {
  const auto topology = make_topology("crossbar:6");
  const Cabling cabling(*topology, 6);
  Fabric fabric(cabling, {rate, 8, Flow::credits, voq, true});
  const auto mine = fabric.add_flow(0, 2, no_path);
  std::vector<Fabric::FlowId> hot;
  for (const Rank src : {0, 3, 4, 5})
    if (src != 0 || also_to_the_hot_one) hot.push_back(fabric.add_flow(src, 1, no_path));
  for (std::uint32_t i = 0; i < 1000; ++i) {
    fabric.send(mine, packet, i, 0);
    for (const auto flow : hot) fabric.send(flow, packet, i, 0);
  }
  Time last = 0;
  fabric.run_until(never - 1, [&](auto flow, auto, Time at) {
    if (flow == mine) last = at;
  });
  return last;
}

TEST(LosslessFabric, AVictimWaitsBehindAPacketForAHotPort) {
  EXPECT_EQ(victim(false, false), 1000 * slot);  // it shares nothing with the others
  EXPECT_GT(victim(false, true), 3500 * slot);   // one input, and the hot port serves it every fourth slot
  EXPECT_GT(victim(true, true), 3500 * slot);    // so it is with a queue for each output: they share the room
}

TEST(LosslessFabric, WithAQueueForEveryOutputNoStreamKeepsAPacketWaiting) {
  const auto topology = make_topology("crossbar:4");
  const Cabling cabling(*topology, 4);
  Fabric fabric(cabling, {rate, 32, Flow::credits, true, false});
  const auto one = fabric.add_flow(0, 1, no_path);
  const auto other = fabric.add_flow(2, 3, no_path);
  const auto across = fabric.add_flow(0, 3, no_path);
  const auto fills_one = fabric.add_flow(3, 1, no_path);  // so that packets wait in the switch
  const auto fills_other = fabric.add_flow(1, 3, no_path);
  Time arrived = never;
  const auto arrive = [&](Fabric::FlowId flow, std::uint32_t, Time at) {
    if (flow == across) arrived = at;
  };
  for (int i = 0; i < 200; ++i) {
    fabric.run_until(i * slot, arrive);
    fabric.send(one, packet, 0, i * slot);
    if (i < 40) fabric.send(fills_one, packet, 0, i * slot);
    if (i == 100) fabric.send(across, packet, 0, i * slot);
    fabric.run_until(i * slot + slot / 2, arrive);
    fabric.send(other, packet, 0, i * slot + slot / 2);  // they end at another time
    if (i < 40) fabric.send(fills_other, packet, 0, i * slot + slot / 2);
  }
  EXPECT_LT(arrived, 110 * slot);
}

TEST(LosslessFabric, AFlowThatIsIdleTakesTheLeastLoadedPath) {
  const auto topology = make_topology("fattree:2x2");
  const Cabling cabling(*topology, 4);
  ASSERT_EQ(cabling.num_paths(0, 2), 2U);
  Fabric fabric(cabling, {rate, 8, Flow::credits, false, true});
  const auto first = fabric.add_flow(0, 2, 0);
  const auto second = fabric.add_flow(1, 3, 0);
  fabric.send(first, packet, 0, 0);
  ASSERT_TRUE(fabric.is_idle(second));
  fabric.take_path(second, no_path);
  fabric.send(second, packet, 0, 0);
  Time last = 0;
  fabric.run_until(never - 1, [&](auto, auto, Time at) { last = std::max(last, at); });
  EXPECT_EQ(last, slot);  // neither waits for the other
}

TEST(LosslessFabric, AWireOfTwiceTheSpeedCarriesTwoPorts) {
  const auto topology = make_topology("tree:2x2");
  const Cabling cabling(*topology, 4);
  Fabric fabric(cabling, {rate, 8, Flow::credits, false, true});
  for (const Rank src : {0, 1}) fabric.add_flow(src, src + 2, no_path);
  for (std::uint32_t i = 0; i < 2000; ++i) fabric.send(i % 2, packet, i, 0);
  Time last = 0;
  fabric.run_until(never - 1, [&](auto, auto, Time at) { last = at; });
  EXPECT_LT(last, 1010 * slot);
}

}  // namespace
}  // namespace nuice::lossless
