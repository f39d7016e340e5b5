// SPDX-License-Identifier: BSD-3-Clause
// Statistics, tables, units, JSON and files of bench/kit.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <numeric>

#include "kit/files.hpp"
#include "kit/json.hpp"
#include "kit/statistics.hpp"
#include "kit/table.hpp"
#include "kit/units.hpp"
#include "nuice/core/error.hpp"
#include "support/throws.hpp"

namespace nuice::kit {
namespace {

TEST(Statistics, MedianIsInTheMiddleAndPercentileIsASample) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(percentile({4, 1, 2, 3}, 95), 4);
  EXPECT_EQ(percentile({4, 1, 2, 3}, 50), 2);
  std::vector<double> hundred(100);
  std::iota(hundred.begin(), hundred.end(), 1);
  EXPECT_EQ(percentile(hundred, 95), 95);
  EXPECT_EQ(percentile(hundred, 100), 100);
}

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table("way|reps|median us");
  table.row("{}|{}|{:.2f}", "nuice", 3, 1.0);
  table.row("{}|{}|{:.2f}|{}", "neighbor", 30, 123.456, "SLOW");
  EXPECT_EQ(table.text(),
            "way       reps  median us\n"
            "nuice        3       1.00\n"
            "neighbor    30     123.46  SLOW\n");
}

TEST(Table, ABarInAValueIsALetterAndRowsMayBeShort) {
  Table table("of|value", 1);
  table.row("{}|{}", "|M|", 2);
  table.row("{}", "none");
  table.append("1|2");
  EXPECT_EQ(table.text("  "), "  of    value\n  |M|       2\n  none    1|2\n");
  EXPECT_EQ(Table("a|b|c", 2).text(), "a  b  c\n");
}

TEST(Units, SuitTheNumber) {
  EXPECT_EQ(quantity(1.523e-6, "s"), "1.52 us");
  EXPECT_EQ(quantity(0, "s"), "0 us");
  EXPECT_EQ(quantity(2.5e-10, "s"), "0.25 ns");
  EXPECT_EQ(quantity(0.0021, "s"), "2.1 ms");
  EXPECT_EQ(quantity(12.34, "s"), "12.3 s");
  EXPECT_EQ(quantity(1 / 3.1e9, "s/B"), "3.1 GB/s");
  EXPECT_EQ(quantity(1 / 3.1e6, "s/B"), "3.1 MB/s");
  EXPECT_EQ(quantity(4096, "B"), "4096 B");
  EXPECT_EQ(quantity(0.25, ""), "0.25");
  EXPECT_EQ(decimals(0.0012345, 3, 1e3), "1.234");
  EXPECT_EQ(decimals(std::nullopt, 3, 1e3), "-");
}

TEST(Json, IsOneLineWithNullForWhatIsNotKnown) {
  const std::vector<int> rows = {1, 2};
  const Json squares = array(rows, [](int row) -> Json { return row * row; });
  EXPECT_EQ(line({{"a", or_null(std::optional<int>())}, {"b", or_null(std::optional(2))}, {"c", squares}}),
            "{\"a\":null,\"b\":2,\"c\":[1,4]}\n");
  EXPECT_TRUE(or_null(std::string()).is_null());
  EXPECT_EQ(Json::parse(line({{"file", "a\xff\nb"}}))["file"], "a\xef\xbf\xbd\nb");
}

class Files : public testing::Test {
 protected:
  std::string path =
      (std::filesystem::temp_directory_path() / ("kit_test_" + std::to_string(::getpid()) + ".txt")).string();
  ~Files() override { std::filesystem::remove(path); }
};

TEST_F(Files, AreReadLineByLine) {
  write_file(path, "one\r\n\ntwo");
  LineReader in(path);
  std::vector<std::string> lines;
  while (in.next()) lines.push_back(in.line());
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "", "two"}));
}

TEST_F(Files, ErrorsNameFileAndLine) {
  write_file(path, "one\ntwo\n");
  LineReader in(path);
  while (in.next()) {
  }
  EXPECT_ERROR(in.fail("not a number"), ErrorCode::parse, {path + ":2: not a number"});
  EXPECT_THROW(LineReader("/no/such/file"), Error);
  LineReader endless("/dev/zero");
  EXPECT_THROW(endless.next(), Error);
  EXPECT_THROW(write_file("/no/such/file", "text"), Error);
}

}  // namespace
}  // namespace nuice::kit
