// SPDX-License-Identifier: BSD-3-Clause
// Wisdom: what is written comes back, what is damaged does not, and writers do not lose each other's entries.
#include "nuice/plan/wisdom.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "nuice/core/patterns.hpp"
#include "nuice/core/random.hpp"

namespace nuice {
namespace {

namespace fs = std::filesystem;

bool same(const WisdomEntry& a, const WisdomEntry& b) {
  return a.key == b.key && a.scheduler == b.scheduler && a.executor == b.executor &&
         a.predicted_s == b.predicted_s && a.measured_s == b.measured_s && a.repetitions == b.repetitions;
}

WisdomEntry entry(std::uint64_t number, std::string scheduler = "rs_n") {
  return {.key = {.matrix = mix64(number),
                  .num_ranks = 8,
                  .num_messages = 20,
                  .total_bytes = 12345,
                  .machine = mix64(number + 1),
                  .reuse_bits = 7,
                  .setting = 3},
          .scheduler = std::move(scheduler),
          .executor = "phased",
          .predicted_s = 1.25e-3,
          .measured_s = 0.1 / static_cast<double>(number + 3),
          .repetitions = 11};
}

class WisdomTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("nuice_wisdom_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    path_ = (folder_ / "a" / "wisdom").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }
  void write(const std::string& text) const {
    fs::create_directories(fs::path(path_).parent_path());
    std::ofstream(path_, std::ios::binary) << text;
  }
  void add(const WisdomEntry& e) const { ASSERT_EQ(add_wisdom(path_, {&e, 1}), ""); }

  fs::path folder_;
  std::string path_;
};

TEST_F(WisdomTest, WhatIsWrittenComesBack) {
  EXPECT_TRUE(read_wisdom(path_).entries.empty());
  EXPECT_EQ(read_wisdom(path_).warning, "") << "no file is no fault";
  const std::vector<WisdomEntry> entries = {entry(1), entry(2, "ac"), entry(3, "coloring")};
  ASSERT_EQ(add_wisdom(path_, entries), "");
  const WisdomFile file = read_wisdom(path_);
  EXPECT_EQ(file.warning, "");
  EXPECT_TRUE(std::ranges::equal(file.entries, entries, same));
  ASSERT_NE(file.find(entries[1].key), nullptr);
  EXPECT_EQ(file.find(entries[1].key)->scheduler, "ac");
  WisdomKey other = entries[1].key;
  other.setting = 4;
  EXPECT_EQ(file.find(other), nullptr);
}

TEST_F(WisdomTest, TheNewestOfAKeyCounts) {
  add(entry(1));
  add(entry(2));
  WisdomEntry again = entry(1, "lp");
  again.executor = "async";
  add(again);
  const WisdomFile file = read_wisdom(path_);
  ASSERT_EQ(file.entries.size(), 2U);
  EXPECT_TRUE(same(*file.find(again.key), again));
}

TEST_F(WisdomTest, KeysTellProblemsApart) {
  const CommMatrix matrix = random_density(16, 0.3, {.unit_bytes = 100, .max_units = 4}, 1);
  const Machine machine = find_machine("ethernet-10g");
  const WisdomKey key = wisdom_key(matrix, machine, 100, "any");
  EXPECT_EQ(key, wisdom_key(matrix, machine, 127, "any")) << "reuses of as many binary digits are alike";
  Machine named = machine;
  named.name = named.summary = "another name";
  EXPECT_EQ(key, wisdom_key(matrix, named, 100, "any"));

  std::vector<Message> messages = matrix.entries();
  messages[3].bytes += 1;
  messages[4].bytes -= 1;
  Machine slower = machine;
  slower.latency_s *= 1.0000001;
  Machine wider = machine;
  wider.topology = find_machine("fattree-ib").topology;
  const WisdomKey others[] = {
      wisdom_key(CommMatrix::from_messages(16, messages), machine, 100, "any"),
      wisdom_key(CommMatrix::from_messages(17, matrix.entries()), machine, 100, "any"),
      wisdom_key(matrix, slower, 100, "any"),
      wisdom_key(matrix, wider, 100, "any"),
      wisdom_key(matrix, machine, 128, "any"),
      wisdom_key(matrix, machine, 100, "phased")};
  for (const WisdomKey& other : others) EXPECT_NE(key, other);
}

// ---- files that are not as they should be

TEST_F(WisdomTest, FilesThatAreNoWisdomAreLeftAlone) {
  const std::string thesis = "Chapter 1\nIt was a dark and stormy night.\n";
  write(thesis);
  EXPECT_NE(read_wisdom(path_).warning.find("is no wisdom"), std::string::npos);
  const WisdomEntry news = entry(1);
  EXPECT_NE(add_wisdom(path_, {&news, 1}).find("is no wisdom"), std::string::npos);
  EXPECT_EQ(text(), thesis);
  write("{\"nuice_wisdom\":2}\n");
  EXPECT_NE(add_wisdom(path_, {&news, 1}).find("of this format"), std::string::npos) << "a later format";
  EXPECT_NE(read_wisdom("/dev/zero").warning.find("no ordinary file"), std::string::npos);
  EXPECT_NE(read_wisdom("/").warning.find("no ordinary file"), std::string::npos);
  EXPECT_NE(add_wisdom("/proc/no/such/wisdom", {&news, 1}), "");
  const std::string loop = (folder_ / "loop").string();
  fs::create_symlink(loop, loop);
  EXPECT_NE(read_wisdom(loop).warning.find("is not used: it cannot be read: Too many"), std::string::npos);
  write("");
  add(news);  // empty is as good as none
  EXPECT_EQ(read_wisdom(path_).entries.size(), 1U);
}

TEST_F(WisdomTest, OtherVersionsAreKeptAndNotUsed) {
  add(entry(1));
  std::string foreign = text();
  const std::string own = "{\"nuice\":\"";
  foreign.insert(foreign.find(own) + own.size(), "9");
  write(foreign);
  EXPECT_TRUE(read_wisdom(path_).entries.empty());
  EXPECT_NE(read_wisdom(path_).warning.find("another version"), std::string::npos);
  add(entry(2));
  EXPECT_EQ(read_wisdom(path_).entries.size(), 1U);
  EXPECT_EQ(text().rfind(foreign, 0), 0U) << "the other version finds its own again";
}

TEST_F(WisdomTest, AHostileFileIsNotBelieved) {
  const auto hostile = [](auto change) {
    WisdomEntry e = entry(1);
    change(e);
    return e;
  };
  const std::vector<WisdomEntry> lies = {
      hostile([](WisdomEntry& e) { e.scheduler = "no_such"; }),
      hostile([](WisdomEntry& e) { e.scheduler = std::string(2000, 'x'); }),
      hostile([](WisdomEntry& e) { e.scheduler = "rs_n\n\xff\xfe"; }),
      hostile([](WisdomEntry& e) { e.executor = "handshake"; }),
      hostile([](WisdomEntry& e) { e.measured_s = 0; }),
      hostile([](WisdomEntry& e) { e.measured_s = -1; }),
      hostile([](WisdomEntry& e) { e.measured_s = std::numeric_limits<double>::quiet_NaN(); }),
      hostile([](WisdomEntry& e) { e.predicted_s = 1e300; }),
      hostile([](WisdomEntry& e) { e.repetitions = -5; }),
      hostile([](WisdomEntry& e) { e.key.num_ranks = -8; }),
      hostile([](WisdomEntry& e) { e.key.total_bytes = -1; })};
  for (const WisdomEntry& lie : lies) {
    fs::remove(path_);
    add(lie);
    EXPECT_TRUE(read_wisdom(path_).entries.empty()) << lie.scheduler.substr(0, 20);
    EXPECT_NE(read_wisdom(path_).warning.find("1 lines are damaged"), std::string::npos);
  }
  add(entry(7));
  const std::string good = text();
  const std::string deep(1000, '[');
  const std::string version =
      good.substr(good.find("\"nuice\":"), std::string_view("\"nuice\":\"0.0.0\"").size());
  const std::string wide = "{" + version + ",\"ranks\":123456789012345678901234567890}";
  write(good + deep + "\n" + wide + "\n" + std::string(100'000, 'z') + "\n\n" + std::string(3, '\0') + "\n");
  EXPECT_EQ(read_wisdom(path_).entries.size(), 1U);
  EXPECT_NE(read_wisdom(path_).warning.find("5 lines are damaged"), std::string::npos);
  write(good + std::string(5U << 20, 'a'));
  EXPECT_NE(read_wisdom(path_).warning.find("above 4 MiB"), std::string::npos);
}

TEST_F(WisdomTest, AFileNeverGrowsBeyondItsLimit) {
  std::vector<WisdomEntry> many;
  for (std::uint64_t i = 0; i < 4200; ++i) many.push_back(entry(i));
  ASSERT_EQ(add_wisdom(path_, many), "");
  const WisdomFile file = read_wisdom(path_);
  EXPECT_EQ(file.entries.size(), 4096U);
  EXPECT_EQ(file.warning, "");
  EXPECT_TRUE(same(file.entries.back(), many.back())) << "the oldest go";
}

/// Random damage: bytes changed, cut out, doubled, lines swapped.
std::string damaged(std::string text, Random& random) {
  const std::uint64_t cuts = 1 + random.below(4);
  for (std::uint64_t i = 0; i < cuts && !text.empty(); ++i) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = 1 + random.below(std::min<std::size_t>(40, text.size() - at));
    switch (random.below(6)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(random.below(text.size()), length));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        text.insert(at, std::string(length, "[{\",:}]\n\\u0"[random.below(11)]));
    }
  }
  return text;
}

TEST_F(WisdomTest, DamageNeverMakesAnEntryThatWasNotThere) {
  const std::vector<WisdomEntry> written = {entry(1), entry(2, "ac"), entry(3, "coloring"), entry(4, "lp")};
  ASSERT_EQ(add_wisdom(path_, written), "");
  const std::string whole = text();
  Random random(2026);
  int warned = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::string bad = damaged(whole, random);
    const WisdomFile file = parse_wisdom(bad, "bad");
    for (const WisdomEntry& e : file.entries)
      EXPECT_TRUE(std::ranges::any_of(written, [&](const WisdomEntry& w) { return same(e, w); })) << bad;
    const bool lost = file.entries.size() < written.size();
    warned += lost && !file.warning.empty() ? 1 : 0;
  }
  EXPECT_GT(warned, 1000);
}

// ---- several writers

TEST_F(WisdomTest, TwoProcessesThatWriteAtOnceLoseNothing) {
  constexpr int writers = 3;
  constexpr std::uint64_t each = 30;
  std::vector<pid_t> children;
  for (std::uint64_t writer = 0; writer < writers; ++writer) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int failed = 0;
      for (std::uint64_t i = 0; i < each; ++i) {
        const WisdomEntry e = entry(1000 * writer + i);
        failed += add_wisdom(path_, {&e, 1}).empty() && read_wisdom(path_).warning.empty() ? 0 : 1;
      }
      _exit(failed == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "a writer failed or read a torn file";
  }
  const WisdomFile file = read_wisdom(path_);
  EXPECT_EQ(file.warning, "");
  EXPECT_EQ(file.entries.size(), writers * each);
  for (std::uint64_t writer = 0; writer < writers; ++writer)
    for (std::uint64_t i = 0; i < each; ++i) {
      const WisdomEntry e = entry(1000 * writer + i);
      const WisdomEntry* const found = file.find(e.key);
      ASSERT_NE(found, nullptr);
      EXPECT_TRUE(same(*found, e));
    }
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path_).parent_path()), {}), 2)
      << "the file and its lock, nothing half-written";
}

TEST_F(WisdomTest, ThePlaceComesFromTheEnvironment) {
  // Only here, where one test runs in this process.
  ASSERT_EQ(setenv("NUICE_WISDOM", "/x/w", 1), 0);
  EXPECT_EQ(default_wisdom_path(), "/x/w");
  ASSERT_EQ(setenv("NUICE_WISDOM", "none", 1), 0);
  EXPECT_EQ(default_wisdom_path(), "");
  ASSERT_EQ(setenv("NUICE_WISDOM", "", 1), 0);
  EXPECT_EQ(default_wisdom_path(), "");
  ASSERT_EQ(unsetenv("NUICE_WISDOM"), 0);
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "/cache", 1), 0);
  EXPECT_EQ(default_wisdom_path(), "/cache/nuice/wisdom");
  ASSERT_EQ(unsetenv("XDG_CACHE_HOME"), 0);
  ASSERT_EQ(setenv("HOME", "/home/me", 1), 0);
  EXPECT_EQ(default_wisdom_path(), "/home/me/.cache/nuice/wisdom");
}

}  // namespace
}  // namespace nuice
