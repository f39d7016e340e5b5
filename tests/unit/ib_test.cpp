// SPDX-License-Identifier: BSD-3-Clause
// ib:DIR against what ibtracert said of a fabric that ibsim played and OpenSM
// routed (tests/support/ib_fabric.py; tests/golden/ib: fattree:4x3/2, ftree, lmc
// 1, a switch with an aggregation node).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "nuice/core/networks.hpp"
#include "support/routes.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

const std::string fabric_folder = std::string(NUICE_GOLDEN_DIR) + "/ib";

class IbFiles : public testing::Test {
 protected:
  IbFiles() {
    folder = std::filesystem::path(testing::TempDir()) /
             (std::string("nuice_ib_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder);
    for (const char* const name : {"ibnetdiscover.txt", "dump_fts.txt"})
      text[name] = read(fabric_folder + "/" + name);
  }
  ~IbFiles() override { std::filesystem::remove_all(folder); }

  static std::string read(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
  std::unique_ptr<const Topology> fabric(const std::string& hosts = "") {
    for (const auto& [name, content] : text) std::ofstream(folder / name) << content;
    if (!hosts.empty()) std::ofstream(folder / "hosts") << hosts;
    return make_topology("ib:" + folder.string() +
                         (hosts.empty() ? "" : ",hosts=" + (folder / "hosts").string()));
  }
  void replace(const std::string& name, const std::string& from, const std::string& to) {
    const std::size_t at = text[name].find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text[name].replace(at, from.size(), to);
  }

  std::filesystem::path folder;
  std::map<std::string, std::string> text;
};

/// The switches on the way, those at its ends too.
std::string switches(const Topology& net, Rank src, Rank dst, std::int64_t path, const std::string& leaf) {
  std::vector<LinkId> route;
  net.append_path(src, dst, path, route);
  std::string names = leaf;
  for (const LinkId link : route) names += " " + net.vertex_name(net.link(link).to);
  return names;
}

TEST_F(IbFiles, EveryRouteIsThatOfIbtracert) {
  const auto net = fabric();
  ASSERT_EQ(net->num_ranks(), 12);
  std::vector<int> lids;  // by rank
  std::istringstream lines(read(fabric_folder + "/routes.txt"));
  std::vector<std::pair<std::pair<int, int>, std::string>> routes;
  int src = 0;
  int dst = 0;
  char colon = 0;
  for (std::string way; lines >> src >> dst >> colon && std::getline(lines >> std::ws, way);) {
    routes.push_back({{src, dst}, way});
    if (lids.empty() || lids.back() != src) lids.push_back(src);
  }
  ASSERT_EQ(lids.size(), 12U);
  std::size_t compared = 0;
  for (const auto& [ends, way] : routes) {
    const auto from = static_cast<Rank>(std::ranges::find(lids, ends.first) - lids.begin());
    const auto to = static_cast<Rank>(std::ranges::upper_bound(lids, ends.second) - lids.begin()) - 1;
    const std::int64_t path = ends.second - lids[static_cast<std::size_t>(to)];
    EXPECT_EQ(net->num_paths(from, to), 2);
    EXPECT_EQ(switches(*net, from, to, path, way.substr(0, way.find(' '))), way);
    ++compared;
  }
  EXPECT_EQ(compared, 12U * 11 * 2);
}

TEST_F(IbFiles, RanksAreThoseOfTheHostFile) {
  const auto net = fabric("host5\nhost1  # a comment\n0x2\nhost7 slots=2\n");
  EXPECT_EQ(net->num_ranks(), 5);
  EXPECT_EQ(net->vertex_name(0), "rank 0, host5");
  EXPECT_EQ(net->vertex_name(2), "rank 2, host0");
  std::vector<LinkId> route;
  net->append_route(3, 4, route);
  EXPECT_TRUE(route.empty());
  net->append_route(0, 3, route);
  ASSERT_FALSE(route.empty());
  EXPECT_EQ(net->vertex_name(net->link(route.back()).to), "host7");
  EXPECT_ERROR(fabric("host5\nhost99\n"), ErrorCode::parse, {"hosts:2: no port", "host99"});
  EXPECT_ERROR(fabric("host5 slots=x\n"), ErrorCode::parse, {"hosts:1"});
}

TEST_F(IbFiles, CapacitiesAreSpeeds) {
  auto& cables = text["ibnetdiscover.txt"];
  std::string doubled;
  std::istringstream in(cables);
  for (std::string line; std::getline(in, line);) {
    const bool between = line.starts_with("[") && line.find("\"S-") != std::string::npos &&
                         line.find("lmc") == std::string::npos;
    if (between) line.replace(line.find("4xSDR"), 5, "4xDDR");
    doubled += line + "\n";
  }
  cables = doubled;
  const auto net = fabric();
  for (LinkId link = 0; link < net->num_links(); ++link) EXPECT_EQ(net->link(link).capacity, 2);
}

/// Between switches twice as fast as to hosts; `behind` is what stands behind each speed.
std::string with_fast_trunks(const std::string& cables, const std::string& behind) {
  std::string changed;
  std::istringstream in(cables);
  for (std::string line; std::getline(in, line);) {
    if (const std::size_t at = line.rfind("4xSDR"); at != std::string::npos) {
      const bool is_trunk = line.find("\"S-") != std::string::npos && line.find("lmc") == std::string::npos;
      line.replace(at, std::string::npos, (is_trunk ? "4xDDR" : "4xSDR") + behind);
    }
    changed += line + "\n";
  }
  return changed;
}

TEST_F(IbFiles, SpeedsAreFoundWhateverStandsBehindThem) {
  const auto whole = text;
  for (const std::string behind : {" s=1 w=2 v=4", " slot 3", " (scp)", " s=1 w=2 v=4 slot 3", "  \r"}) {
    text["ibnetdiscover.txt"] = with_fast_trunks(whole.at("ibnetdiscover.txt"), behind);
    const auto net = fabric();
    for (LinkId link = 0; link < net->num_links(); ++link) EXPECT_EQ(net->link(link).capacity, 2) << behind;
  }
}

TEST_F(IbFiles, DescriptionsMayHaveAnyWords) {
  replace("ibnetdiscover.txt", "\"host1\" lid", "\"host1 1xHDR lid 7\" lid");
  text["ibnetdiscover.txt"] = with_fast_trunks(text["ibnetdiscover.txt"], " s=1 w=2 v=4");
  const auto net = fabric();
  for (LinkId link = 0; link < net->num_links(); ++link) EXPECT_EQ(net->link(link).capacity, 2);
}

TEST_F(IbFiles, SpeedsThatAreNotKnownAreNotLostWithoutAWord) {
  const auto whole = text["ibnetdiscover.txt"];
  std::string unknown = whole;
  for (std::size_t at = 0; (at = unknown.find("4xSDR", at)) != std::string::npos;)
    unknown.replace(at, 5, "4x???");
  text["ibnetdiscover.txt"] = unknown;
  EXPECT_EQ(fabric()->link(0).capacity, 1) << "all are taken to be alike";
  std::istringstream in(whole);
  std::string some;
  bool is_first = true;
  for (std::string line; std::getline(in, line); some += line + "\n")
    if (is_first && line.starts_with("[") && line.find("\"S-") != std::string::npos) {
      line.replace(line.find("4xSDR"), 5, "4xLDR");
      is_first = false;
    }
  text["ibnetdiscover.txt"] = some;
  EXPECT_ERROR(fabric(), ErrorCode::parse, {"ibnetdiscover.txt: the speed of the link at", "is not known"});
}

TEST_F(IbFiles, WhatIsWrongIsNamed) {
  EXPECT_ERROR(make_topology("ib:"), ErrorCode::invalid_argument, {"folder"});
  EXPECT_ERROR(make_topology("ib:" + folder.string()), ErrorCode::io, {"ibnetdiscover"});
  EXPECT_ERROR(make_topology("ib:" + fabric_folder + ",ranks=x"), ErrorCode::invalid_argument,
               {"hosts=FILE"});
  const auto whole = text;
  replace("dump_fts.txt", "0x0002 0", "0x000x 0");
  EXPECT_ERROR(fabric(), ErrorCode::parse, {"dump_fts.txt:", "LID PORT"});
  text = whole;
  replace("dump_fts.txt", "0x0002 0", "0x-2 0");
  EXPECT_ERROR(fabric(), ErrorCode::parse, {"dump_fts.txt:", "LID PORT"});
  text = whole;
  replace("dump_fts.txt", "guid 0x", "guid 0xf");
  EXPECT_ERROR(fabric(), ErrorCode::parse, {"dump_fts.txt:1", "is not among"});
  text = whole;
  text["dump_fts.txt"].clear();
  EXPECT_ERROR(fabric(), ErrorCode::parse, {"no route leads to"});
  text = whole;
  text["ibnetdiscover.txt"] = "# nothing\n";
  EXPECT_ERROR(fabric(), ErrorCode::parse, {"no host"});
}

}  // namespace
}  // namespace nuice
