// SPDX-License-Identifier: BSD-3-Clause
// Networks from files: what they read, how they route, and that bad ones are refused with their line.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "nuice/core/networks.hpp"
#include "support/routes.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

using test::route_of;
using test::stops_of;

class NetworkFiles : public testing::Test {
 protected:
  NetworkFiles() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(testing::TempDir()) / (std::string("nuice_networks_") + test->name());
    std::filesystem::create_directories(folder);
  }
  ~NetworkFiles() override { std::filesystem::remove_all(folder); }

  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }
  std::unique_ptr<const Topology> graph(const std::string& text) const {
    return make_topology("file:" + write("a.net", "nuice-network 1\n" + text));
  }
  void expect_graph_error(const std::string& text, std::initializer_list<std::string> parts,
                          ErrorCode code = ErrorCode::parse) const {
    EXPECT_ERROR(graph(text), code, parts);
  }

  std::filesystem::path folder;
};

std::vector<std::string> named_stops(const Topology& net, Rank src, Rank dst) {
  std::vector<std::string> names;
  for (const std::int32_t vertex : stops_of(net, route_of(net, src, dst)))
    names.push_back(net.vertex_name(vertex));
  return names;
}

TEST_F(NetworkFiles, TheExampleOfTheDocs) {
  const auto net = graph(
      "rank n[0-3]\nswitch left right   # two of them\n\ncable n[0-1] left\ncable n[2-3] right\n"
      "cable left right 2.5\nlink n0 right 0.5\n");
  EXPECT_EQ(net->num_ranks(), 4);
  EXPECT_EQ(net->num_links(), 2 + 2 + 1)
      << "n0 has three links, so they count; n1, n2, n3 hang on one switch";
  EXPECT_TRUE(route_of(*net, 2, 3).empty());
  EXPECT_EQ(named_stops(*net, 1, 2), (std::vector<std::string>{"left", "right"}));
  EXPECT_EQ(named_stops(*net, 0, 2), (std::vector<std::string>{"rank 0, n0", "right"}));
  EXPECT_EQ(named_stops(*net, 2, 0), (std::vector<std::string>{"right", "left", "rank 0, n0"}));
  std::multiset<double> capacities;
  for (LinkId id = 0; id < net->num_links(); ++id) capacities.insert(net->link(id).capacity);
  EXPECT_EQ(capacities, (std::multiset<double>{0.5, 1, 1, 2.5, 2.5}));
}

/// The links of a network as a file; ranks that hang on a switch are given cables by `leaf_of`.
template <typename LeafOf>
std::string text_of(const Topology& net, LeafOf leaf_of) {
  std::ostringstream out;
  std::set<std::int32_t> switches;
  for (LinkId id = 0; id < net.num_links(); ++id) {
    for (const std::int32_t end : {net.link(id).from, net.link(id).to}) {
      if (end >= net.num_ranks()) switches.insert(end);
    }
  }
  out << "rank v[0-" << net.num_ranks() - 1 << "]\n";
  for (const std::int32_t vertex : switches) out << "switch v" << vertex << '\n';
  for (Rank rank = 0; rank < net.num_ranks(); ++rank) {
    if (leaf_of(rank) != rank) out << "cable v" << rank << " v" << leaf_of(rank) << '\n';
  }
  for (LinkId id = 0; id < net.num_links(); ++id) {
    const Link link = net.link(id);
    out << "link v" << link.from << " v" << link.to << ' ' << link.capacity << '\n';
  }
  return out.str();
}

// The rule for equal ways is d-mod-k in a fat tree.
TEST_F(NetworkFiles, FatTreesAreRoutedAsTheKind) {
  for (const char* spec : {"fattree:4x4x4", "fattree:8x4/2", "fattree:4x6x2/2x3", "tree:4x4x2/2"}) {
    const auto tree = make_topology(spec);
    const Rank per_leaf = spec[spec[0] == 'f' ? 8 : 5] - '0';
    const auto same = graph(text_of(*tree, [&](Rank rank) { return tree->num_ranks() + rank / per_leaf; }));
    ASSERT_EQ(same->num_links(), tree->num_links());
    for (Rank src = 0; src < tree->num_ranks(); ++src) {
      for (Rank dst = 0; dst < tree->num_ranks(); ++dst) {
        ASSERT_EQ(route_of(*same, src, dst), route_of(*tree, src, dst))
            << spec << ": " << src << " -> " << dst;
      }
    }
  }
}

TEST_F(NetworkFiles, RoutesAreShortestOnDirectNetworks) {
  for (const char* spec : {"hypercube:5", "torus:5x4", "mesh:3x3x3"}) {
    const auto net = make_topology(spec);
    const auto same = graph(text_of(*net, [](Rank rank) { return rank; }));
    for (Rank src = 0; src < net->num_ranks(); ++src) {
      for (Rank dst = 0; dst < net->num_ranks(); ++dst) {
        const auto stops = stops_of(*same, route_of(*same, src, dst));
        ASSERT_EQ(stops.size(), stops_of(*net, route_of(*net, src, dst)).size());
        if (src == dst) continue;
        ASSERT_EQ(stops.front(), src);
        ASSERT_EQ(stops.back(), dst);
      }
    }
  }
}

TEST_F(NetworkFiles, BadGraphsAreRefusedWithTheirLine) {
  EXPECT_ERROR(make_topology("file:" + write("b.net", "nuice-network 2\n")), ErrorCode::parse,
               {"b.net:1: expected \"nuice-network 1\""});
  EXPECT_ERROR(make_topology("file:" + write("b.net", "")), ErrorCode::parse,
               {"expected \"nuice-network 1\""});
  expect_graph_error("", {"a.net", "there are no ranks"});
  expect_graph_error("switch s\n", {"there are no ranks"});
  expect_graph_error("rank a\nrank a\n", {"a.net:3: \"a\" is declared twice"});
  expect_graph_error("rank a\nswitch ,\n", {"a.net:3: a name is missing"});
  expect_graph_error("rank\n", {"a.net:2: expected \"rank NAME...\""});
  expect_graph_error("rank a b\nedge a b\n", {"a.net:3: \"edge\" is not one of"});
  expect_graph_error("rank a b\ncable a\n", {"a.net:3: expected \"cable A B [CAPACITY]\""});
  expect_graph_error("rank a b\ncable a c\n", {"a.net:3: no rank or switch is called \"c\""});
  expect_graph_error("rank a b\ncable a b 0\n", {"a.net:3: \"0\" is not a capacity above 0"});
  expect_graph_error("rank a b\ncable a b nan\n", {"a.net:3: \"nan\" is not a capacity above 0"});
  expect_graph_error("rank a b\ncable a a\n", {"a.net:3: \"a\" cannot be connected with itself"});
  expect_graph_error("rank a b\n", {"a.net: no route leads from b to a"});
  expect_graph_error("rank a b\nlink a b\n", {"a.net: no route leads from b to a"});
  expect_graph_error("rank a[3-1]\n", {"a.net:2: \"3-1\" is not a range of numbers"});
  expect_graph_error("rank a[0-3\n", {"has no \"]\""});
  expect_graph_error("rank a[0-99999999999]\n", {"\"0-99999999999\" is too long"});
  expect_graph_error("rank a[0-1048575][0-1048575]\n", {"too many names"});
}

TEST_F(NetworkFiles, FilesThatDoNotEndAreRefused) {
  EXPECT_ERROR(make_topology("file:/dev/zero"), ErrorCode::limit, {"/dev/zero:1: a line of more than"});
  const std::string path = write(
      "a.net", "nuice-network 1\nrank n[0-3]\nswitch s\ncable n[0-3] s\n" + std::string(1 << 20, ' ') + "\n");
  ASSERT_EQ(std::system(("gzip -f " + path).c_str()), 0);
  EXPECT_EQ(make_topology("file:" + path + ".gz")->num_ranks(), 4);
  std::filesystem::resize_file(path + ".gz", std::filesystem::file_size(path + ".gz") - 20);
  EXPECT_ERROR(make_topology("file:" + path + ".gz"), ErrorCode::io, {"a.net.gz:", "cannot be read further"});
}

}  // namespace
}  // namespace nuice
