// SPDX-License-Identifier: BSD-3-Clause
// Slurm's files as sites write them, which Slurm itself takes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "nuice/core/networks.hpp"
#include "support/routes.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

class SlurmFiles : public testing::Test {
 protected:
  SlurmFiles() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(testing::TempDir()) / (std::string("nuice_slurm_") + test->name());
    std::filesystem::create_directories(folder);
  }
  ~SlurmFiles() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }
  std::unique_ptr<const Topology> conf(const std::string& text, const std::string& options = "") const {
    return make_topology("slurm:" + write("topology.conf", text) + options);
  }
  std::unique_ptr<const Topology> yaml(const std::string& text, const std::string& options = "") const {
    return make_topology("slurm:" + write("topology.yaml", text) + options);
  }
  /// Two leaves of four hosts and the switch above them.
  static void expect_two_leaves(const Topology& net, const std::string& what) {
    EXPECT_EQ(net.num_ranks(), 8) << what;
    EXPECT_EQ(net.num_links(), 4) << what;
    EXPECT_EQ(way(net, 1, 7), "leaf0 top leaf1") << what;
    EXPECT_EQ(way(net, 4, 7), "") << what;
    EXPECT_EQ(net.vertex_name(7), "rank 7, n7") << what;
  }
  static std::string way(const Topology& net, Rank src, Rank dst) {
    std::string names;
    for (const std::int32_t vertex : test::stops_of(net, test::route_of(net, src, dst)))
      names += (names.empty() ? "" : " ") + net.vertex_name(vertex);
    return names;
  }

  std::filesystem::path folder;
};

TEST_F(SlurmFiles, LinesAreReadAsSlurmReadsThem) {
  const std::string leaf1 = "SwitchName=leaf1 Nodes=n[4-7]\n";
  for (const std::string& text :
       {"SwitchName=\"leaf0\" Nodes=\"n[0-3]\"\n" + leaf1 + "SwitchName=\"top\" Switches=\"leaf0,leaf1\"\n",
        "SwitchName = leaf0 Nodes = n[0-3]\n" + leaf1 + "SwitchName\t=\ttop Switches =leaf[0-1]\n",
        "switchname=leaf0 NODES=n[0-3] linkspeed=100\n" + leaf1 + "SWITCHNAME=top switches=Leaf0,LEAF1\n",
        "SwitchName=leaf0 Nodes=\"n0, n1,n[2-3],\"\r\n" + leaf1 + "SwitchName=top Switches=,leaf0,,leaf1,\n",
        "SwitchName=leaf0 \\  \n  Nodes=n[0-3] # here\n" + leaf1 + "SwitchName=top Switches=leaf[0-1]\n",
        "  # first\n\nSwitchName=leaf0 Nodes=n[0-3]#x\n" + leaf1 + "SwitchName=top Switches=leaf[0-1,0]\n",
        "SwitchName=leaf0 Nodes=n[0-3,0]\n" + leaf1 + "SwitchName=top Switches=leaf[0-1]\nBlockSizes=4,8\n"})
    expect_two_leaves(*conf(text), text);
}

TEST_F(SlurmFiles, NamesInAnotherCaseAreFoundWhereOnlyOneFits) {
  EXPECT_ERROR(conf("SwitchName=Leaf Nodes=n0\nSwitchName=LEAF Nodes=n1\nSwitchName=top Switches=leaf\n"),
               ErrorCode::parse, {"conf:3: no switch is called \"leaf\""});
  const auto exact =
      conf("SwitchName=Leaf Nodes=n0\nSwitchName=leaf Nodes=n1\nSwitchName=top Switches=leaf,Leaf\n");
  EXPECT_EQ(way(*exact, 0, 1), "Leaf top leaf");
  const std::string hosts = write("hosts", "NODE1\nnode0\n");
  EXPECT_EQ(conf("SwitchName=a Nodes=Node[0-1]\n", ",hosts=" + hosts)->vertex_name(0), "rank 0, Node1");
}

TEST_F(SlurmFiles, SwitchesMayHaveNoHostsYet) {
  for (const std::string empty : {"SwitchName=leaf2 Nodes=", "SwitchName=leaf2",
                                  "SwitchName=leaf2 Nodes=\"\"", "SwitchName=leaf2 Nodes= LinkSpeed=1"}) {
    const auto net = conf("SwitchName=leaf0 Nodes=n[0-3]\nSwitchName=leaf1 Nodes=n[4-7]\n" + empty +
                          "\nSwitchName=top Switches=leaf[0-2]\n");
    EXPECT_EQ(net->num_ranks(), 8) << empty;
    EXPECT_EQ(way(*net, 0, 7), "leaf0 top leaf1") << empty;
  }
}

TEST_F(SlurmFiles, BlocksAreSwitchesBelowOne) {
  const std::string text = "BlockName=b1 Nodes=c[01-04]\nBlockName=b2 Nodes=c[05-06]\nBlockSizes=2,4\n";
  const auto net = conf(text);
  EXPECT_EQ(net->num_ranks(), 6);
  EXPECT_EQ(way(*net, 0, 5), "b1 between blocks b2");
  EXPECT_EQ(way(*net, 4, 5), "");
  EXPECT_EQ(net->link(test::route_of(*net, 0, 5).at(0)).capacity, 4) << "all hosts of the block";
  EXPECT_EQ(conf(text, ",thin=2")->link(0).capacity, 2);
  EXPECT_ERROR(conf("RingName=r Nodes=n[0-7]\n"), ErrorCode::not_applicable, {"conf:1:", "torus:N"});
}

TEST_F(SlurmFiles, IslandsAreJoinedAboveAllOfThem) {
  const std::string text =
      "SwitchName=a1 Nodes=w[0-3]\nSwitchName=a2 Nodes=w[4-7]\nSwitchName=s1 Switches=a[1-2]\nSwitchName=s2 "
      "Switches=a[1-2]\nSwitchName=b1 Nodes=g[0-3]\nSwitchName=t Switches=b1\nSwitchName=alone Nodes=x\n"
      "SwitchName=empty\n";
  const auto net = conf(text, ",thin=4");
  EXPECT_EQ(net->num_ranks(), 13);
  EXPECT_EQ(way(*net, 0, 8), "a1 s1 between islands t b1");
  EXPECT_EQ(way(*net, 8, 12), "b1 t between islands alone");
  const auto route = test::route_of(*net, 0, 12);
  EXPECT_EQ(net->link(route.at(1)).capacity, 8) << "not thinned: nothing is known of it";
  std::set<std::string> inside;
  for (Rank dst = 4; dst < 8; ++dst) inside.insert(way(*net, 0, dst));
  EXPECT_EQ(inside, (std::set<std::string>{"a1 s1 a2", "a1 s2 a2"})) << "as without other islands";
  const auto one = conf(text, ",hosts=" + write("hosts", "w0\nw7\n"));
  for (LinkId id = 0; id < one->num_links(); ++id)
    EXPECT_NE(one->vertex_name(one->link(id).to), "between islands");
}

TEST_F(SlurmFiles, HostsOnSeveralSwitchesAreNoWayForOthers) {
  const auto net =
      conf("SwitchName=a Nodes=n[0-1],both\nSwitchName=b Nodes=both,n[2-3]\nSwitchName=top Switches=a,b\n");
  EXPECT_EQ(net->num_ranks(), 5);
  EXPECT_EQ(way(*net, 0, 3), "a top b");
  EXPECT_EQ(way(*net, 2, 0), "both a");
  EXPECT_EQ(way(*net, 2, 4), "both b");
  EXPECT_EQ(way(*net, 3, 2), "b both");
  const auto rails = conf("SwitchName=rail0 Nodes=n[0-3]\nSwitchName=rail1 Nodes=n[0-3]\n");
  std::set<std::string> ways;
  for (Rank dst = 1; dst < 4; ++dst) ways.insert(way(*rails, 0, dst).substr(0, 8));
  EXPECT_EQ(ways, (std::set<std::string>{"n0 rail0", "n0 rail1"}));
}

TEST_F(SlurmFiles, FilesMayIncludeOthers) {
  write("leaves.conf", "SwitchName=leaf0 Nodes=n[0-3]\nSwitchName=leaf1 Nodes=n[4-7]\n");
  expect_two_leaves(*conf("include leaves.conf\nSwitchName=top Switches=leaf[0-1]\n"), "included");
  EXPECT_ERROR(conf("Include topology.conf\n"), ErrorCode::parse, {"conf:1: more than 10 nested files"});
  EXPECT_ERROR(conf("Include none.conf\n"), ErrorCode::io, {"none.conf: No such file"});
}

const std::string tree =
    "---\n"
    "- topology: small\n"
    "  cluster_default: false\n"
    "  tree:\n"
    "    switches:\n"
    "      - {switch: alone, nodes: \"a[1-2]\"}\n"
    "- topology: whole\n"
    "  cluster_default: true\n"
    "  tree:\n"
    "    switches:\n"
    "      - switch: top\n"
    "        children: leaf[0-1]\n"
    "      - switch: leaf0\n"
    "        nodes: n[0-3]\n"
    "      - {switch: leaf1, nodes: [n4, \"n[5-7]\"], colour: red}\n"
    "- topology: blocks\n"
    "  block:\n"
    "    block_sizes: [4, 16]\n"
    "    blocks:\n"
    "      - block: b1\n"
    "        nodes: node[01-04]\n"
    "      - block: b2\n"
    "        nodes:\n"
    "- topology: flat\n"
    "  flat: true\n";

TEST_F(SlurmFiles, YamlIsReadAsItIs) {
  expect_two_leaves(*yaml(tree), "the default");
  EXPECT_EQ(yaml(tree, ",name=small")->num_ranks(), 2);
  EXPECT_EQ(yaml(tree, ",name=blocks")->num_ranks(), 4);
  const std::string hosts = write("hosts", "n7\nn0\n");
  EXPECT_EQ(way(*yaml(tree, ",name=whole,hosts=" + hosts), 0, 1), "leaf1 top leaf0");
  std::string no_default = tree;
  no_default.erase(no_default.find("  cluster_default: true\n"), 24);
  EXPECT_EQ(yaml(no_default)->num_ranks(), 2) << "the first";
  EXPECT_EQ(yaml("topology: t\ntree: {switches: {switch: s, nodes: a}}\n")->num_ranks(), 1) << "no lists";
  EXPECT_EQ(make_topology("slurm:" + write("t.yml", tree))->num_ranks(), 8);
  expect_two_leaves(*yaml("- topology: json\n  \"tree\": {\"switches\": [{\"switch\": \"top\", \"children\": "
                          "\"leaf0,leaf1\"}, {\"switch\": \"leaf0\", \"nodes\": \"n[0-3]\"}, {\"switch\": "
                          "\"leaf1\", \"nodes\": \"n[4-7]\"}]}\n"),
                    "JSON");
}

TEST_F(SlurmFiles, WhatIsWrongWithYamlIsNamed) {
  const auto bad = [&](const std::string& text, std::initializer_list<std::string> parts,
                       ErrorCode code = ErrorCode::parse, const std::string& options = "") {
    SCOPED_TRACE(text);
    EXPECT_ERROR(yaml(text, options), code, parts);
  };
  bad("", {"topology.yaml: expected a list of topologies"});
  bad("a: [\n", {"topology.yaml:"});
  bad("- topology: t\n\ttree: x\n", {"topology.yaml:"});
  bad("just words\n", {"topology.yaml:1: expected a list"});
  bad("- tree: {}\n", {"topology.yaml:1: \"topology:\" is missing"});
  bad("&a [*a]\n", {"\"topology:\" is missing"});
  bad("- topology: t\n  tree: {switches: [{nodes: a}]}\n", {"topology.yaml:2: \"switch:\" is missing"});
  bad("- topology: t\n  tree: {leaves: []}\n", {"topology.yaml:2: \"switches:\" is missing"});
  bad("- topology: t\n  tree:\n    switches:\n    - switch: s\n      nodes: n[0-\n",
      {"topology.yaml:5: ", "has no"});
  bad("- topology: t\n  tree:\n    switches:\n    - {switch: s, nodes: {a: b}}\n",
      {"topology.yaml:4: \"nodes:\""});
  bad("- topology: t\n  tree: {switches: [{switch: s, children: s}]}\n", {"\"s\" is below itself"});
  bad("- topology: t\n  tree: {switches: [{switch: s, nodes: a}]}\n---\n- topology: u\n",
      {"more than one document"});
  bad(tree, {"no topology \"other\"; name= is one of small, whole, blocks, flat"}, ErrorCode::not_applicable,
      ",name=other");
  bad(tree, {"topology.yaml:24: topology \"flat\" has neither tree nor block"}, ErrorCode::not_applicable,
      ",name=flat");
  bad(std::string(100000, '['), {"more than 1000 nested lists"}, ErrorCode::limit);
  EXPECT_ERROR(conf("SwitchName=a Nodes=n0\n", ",name=x"), ErrorCode::invalid_argument,
               {"only a topology.yaml"});
}

}  // namespace
}  // namespace nuice
