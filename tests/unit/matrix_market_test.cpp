// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <sstream>

#include "nuice/core/text_io.hpp"
#include "support/matrices.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

CommMatrix read(const std::string& text) {
  std::istringstream in(text);
  return read_matrix_market(in, "m.mtx");
}

TEST(MatrixMarket, WritesRowColumnBytesFromOne) {
  std::ostringstream out;
  write_matrix_market(out, test::matrix_of(3, {{2, 0, 7}, {0, 1, 5}, {1, 1, 9}}),
                      "made by hand\nin two lines");
  EXPECT_EQ(out.str(),
            "%%MatrixMarket matrix coordinate integer general\n"
            "% row: sender, column: receiver (ranks from 1), value: bytes\n"
            "% made by hand\n% in two lines\n3 3 3\n1 2 5\n2 2 9\n3 1 7\n");
}

TEST(MatrixMarket, ReadsWhatItWrites) {
  for (const auto& [name, matrix] : test::all_matrices()) {
    std::ostringstream out;
    write_matrix_market(out, matrix);
    EXPECT_EQ(read(out.str()), matrix) << name;
  }
}

TEST(MatrixMarket, ReadsEveryFormThatMakesSense) {
  const CommMatrix expected = test::matrix_of(3, {{0, 1, 5}, {2, 0, 7}});
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 5\n3 1 7\n"), expected);
  EXPECT_EQ(read("%%MatrixMarket MATRIX Coordinate Real General\r\n% note\r\n\r\n 3\t3  2\r\n1 2 5.0\r\n% "
                 "note\r\n3 1 0.7e1\r\n\r\n"),
            expected);
  EXPECT_EQ(read("%%MatrixMarket matrix array integer general\n3 3\n0\n0\n7\n5\n0\n0\n0\n0\n0\n"), expected);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n"),
            test::matrix_of(3, {{0, 1, 1}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 3 2\n"),
            test::matrix_of(3, {{0, 1, 5}, {1, 0, 5}, {2, 2, 2}}));
  EXPECT_EQ(read("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n5\n0\n"),
            test::matrix_of(2, {{0, 0, 1}, {0, 1, 5}, {1, 0, 5}}));
}

TEST(MatrixMarket, NamesTheLineOfWhatIsWrong) {
  const std::string banner = "%%MatrixMarket matrix coordinate integer general\n";
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  const auto bad = [](const std::string& text, const std::string& place, const std::string& what) {
    SCOPED_TRACE(text);
    EXPECT_ERROR(read(text), ErrorCode::parse, {place, what});
  };
  bad("", "m.mtx:0", "empty file");
  const std::string first = "where the first line of a Matrix Market file must be \"%%MatrixMarket";
  bad("hello\n", "m.mtx:1", "\"hello\" " + first);
  bad("4 4 1\n1 2 5\n", "m.mtx:1", "\"4 4 1\" " + first);
  bad("% made by hand\n" + banner + "2 2 1\n1 2 5\n", "m.mtx:1", "a comment or blank line " + first);
  bad("\n" + banner + "2 2 1\n1 2 5\n", "m.mtx:1", "a comment or blank line " + first);
  bad("# made by hand\n" + banner, "m.mtx:1", "a comment or blank line " + first);
  bad("%%MatrixMarket matrix coordinate integer\n", "m.mtx:1", "expected \"%%MatrixMarket matrix");
  bad("%%MatrixMarket matrix coordinate complex general\n", "m.mtx:1", "complex");
  bad("%%MatrixMarket matrix coordinate integer hermitian\n", "m.mtx:1", "hermitian");
  bad("%%MatrixMarket matrix array pattern general\n", "m.mtx:1", "pattern");
  bad(banner, "m.mtx:1", "before the line with the sizes");
  bad(banner + "3 3\n", "m.mtx:2", "rows columns entries");
  bad(banner + "3 4 0\n", "m.mtx:2", "square");
  bad(banner + "3 3 -1\n", "m.mtx:2", "rows columns entries");
  bad(banner + "3 3 2\n1 2 5\n", "m.mtx:3", "ends after 1 of 2 entries");
  bad(banner + "3 3 999999999999\n1 2 5\n", "m.mtx:3", "ends after 1");
  bad(banner + "3 3 1\n1 2 5\n1 3 5\n", "m.mtx:4", "more than the announced 1");
  bad(banner + "3 3 1\n4 2 5\n", "m.mtx:3", "row 4 is not in 1..3");
  bad(banner + "3 3 1\n1 0 5\n", "m.mtx:3", "column 0 is not in 1..3");
  bad(banner + "3 3 1\n1 2\n", "m.mtx:3", "row column value");
  bad(banner + "3 3 1\n1 2 5 6\n", "m.mtx:3", "row column value");
  bad(banner + "3 3 1\n1 2 -5\n", "m.mtx:3", "negative size -5");
  bad(banner + "3 3 1\n1 2 5.5\n", "m.mtx:3", "5.5 is not a whole number");
  bad(banner + "3 3 1\n1 2 5.0\n", "m.mtx:3", "not an integer");
  bad(banner + "3 3 1\n1 2 +\n", "m.mtx:3", "\"+\" is not a size");
  bad(banner + "3 3 1\n1 2 +-7\n", "m.mtx:3", "\"+-7\" is not a size");
  bad(banner + "3 3 1\n1 2 ++7\n", "m.mtx:3", "\"++7\" is not a size");
  bad(real + "3 3 1\n1 2 +-7e0\n", "m.mtx:3", "\"+-7e0\" is not a size");
  bad(real + "3 3 1\n1 2 7e+-0\n", "m.mtx:3", "\"7e+-0\" is not a size");
  bad(banner + "3 3 1\n1 2 five\n", "m.mtx:3", "\"five\" is not a size");
  bad(banner + "3 3 1\n1 2 4611686018427387905\n", "m.mtx:3", "2^62");
  bad(banner + "3 3 1\n1 2 99999999999999999999\n", "m.mtx:3", "2^62");
  bad(real + "3 3 1\n1 2 0.5\n", "m.mtx:3", "0.5 is not a whole number");
  bad(real + "3 3 1\n1 2 -1e3\n", "m.mtx:3", "negative size -1e3");
  bad(real + "3 3 1\n1 2 1e300\n", "m.mtx:3", "2^62");
  bad(real + "3 3 1\n1 2 nan\n", "m.mtx:3", "nan is not a whole number");
  bad("%%MatrixMarket matrix coordinate integer symmetric\n3 3 1\n1 2 5\n", "m.mtx:3", "above the diagonal");
  bad(real + "3 3 1\n1 2 9007199254740993.0\n", "m.mtx:3", "may be rounded");
  bad(real + "3 3 1\n1 2 9.007199254740993e15\n", "m.mtx:3", "may be rounded");
  bad(real + "3 3 1\n1 2 5.00000000000000000001\n", "m.mtx:3", "not a whole number");
  bad(real + "3 3 1\n1 2 4.9999999999999999999999e3\n", "m.mtx:3", "not a whole number");
  bad(real + "3 3 1\n1 2 1e-400\n", "m.mtx:3", "not a size");
  bad("%%MatrixMarket matrix coordinate real symmetric\n3 7 1\n1 5 1\n", "m.mtx:2",
      "symmetric matrix is square");
  EXPECT_ERROR(read(banner + "3 3 2\n1 2 5\n1 2 5\n"), ErrorCode::invalid_argument,
               {"m.mtx", "rank 0 -> rank 1", "twice"});
}

TEST(Errors, AreOneLineWhateverTheyQuote) {
  const Error error(ErrorCode::parse, "unknown \"a\nb\x1b[31m\"");
  EXPECT_STREQ(error.what(), "unknown \"a\\x0ab\\x1b[31m\"");
  EXPECT_EQ(error_json(ErrorCode::io, "a\"\\\xff"),
            "{\"error\": {\"code\": \"io\", \"message\": \"a\\\"\\\\\\u00ff\"}}\n");
}

TEST(MatrixMarket, ReadsWhatOtherProgramsWrite) {
  const CommMatrix expected = test::matrix_of(2, {{0, 1, 5}});
  EXPECT_EQ(read("\xEF\xBB\xBF%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 1\n1 2 5\n"),
            expected);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 +500e-2\n"), expected);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 +5\n"), expected);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer general\n+2 +2 +1\n+1 +2 +5\n"), expected);
  EXPECT_EQ(read("%%matrixmarket matrix coordinate integer general\n2 2 1\n1 2 5\n"), expected);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 9007199254740993\n").bytes(0),
            9007199254740993);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 9007199254740991.0\n").bytes(0),
            9007199254740991);
}

TEST(MatrixMarket, WhatIsNoTextIsNamed) {
  using namespace std::string_literals;
  const auto bad = [](const std::string& begin, const std::string& what) {
    EXPECT_ERROR(read(begin + "\x01\x02\n\x03"), ErrorCode::parse, {"m.mtx:1: the file is ", what});
  };
  bad("BZh91AY&SY", "packed by bzip2: unpack it first (bunzip2)");
  bad("\xFD\x37zXZ\0"s, "packed by xz");
  bad("\x28\xB5\x2F\xFD", "packed by zstd");
  bad("\x04\x22\x4D\x18", "packed by lz4");
  bad("PK\x03\x04", "a ZIP archive");
  bad("\x89HDF\r\n\x1a\n", "an HDF5 file");
  bad("\xFF\xFE%\0%\0"s, "text in UTF-16");
}

TEST(MatrixMarket, HeadersDoNotAskForMemory) {
  const std::string banner = "%%MatrixMarket matrix coordinate integer general\n";
  EXPECT_ERROR(read(banner + "2147483647 2147483647 0\n"), ErrorCode::limit,
               {"m.mtx:2", "2147483647 rows", "16777216"});
  EXPECT_ERROR(read("%%MatrixMarket matrix array integer general\n99999999 99999999\n"), ErrorCode::limit,
               {"m.mtx:2"});
}

TEST(RealMatrices, AreReadByTheSameReader) {
  const auto read_real = [](const std::string& text) {
    std::istringstream in(text);
    return read_real_matrix(in, "a.mtx");
  };
  const RealMatrix a =
      read_real("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 1 -2.5\n3 1 +1e-3\n");
  ASSERT_EQ(a.entries.size(), 3U);
  EXPECT_EQ(a.num_rows, 3);
  EXPECT_EQ(a.entries[0].value, -2.5);
  EXPECT_EQ(std::pair(a.entries[2].row, a.entries[2].column), (std::pair<std::int64_t, std::int64_t>{0, 2}));
  EXPECT_EQ(a.entries[2].value, 1e-3);
  EXPECT_EQ(read_real("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n").entries[0].value, 1);
  EXPECT_EQ(read_real("%%MatrixMarket matrix array double general\n1 2\n0\n7.5\n").entries[0].column, 1);
  const std::string real = "%%MatrixMarket matrix coordinate real ";
  EXPECT_ERROR(read_real(real + "symmetric\n3 7 1\n1 5 1\n"), ErrorCode::parse, {"a.mtx:2", "square"});
  EXPECT_ERROR(read_real(real + "general\n1 1 1\n1 1 inf\n"), ErrorCode::parse, {"a.mtx:3", "finite"});
  EXPECT_ERROR(read_real(real + "general\n2 2 4611686018427387905\n1 1 4\n"), ErrorCode::parse,
               {"a.mtx:3", "1 of 4611686018427387905"});
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("nuice-test-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
              std::to_string(getpid()));
    std::filesystem::create_directory(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::size_t num_files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }
  std::filesystem::path folder;
};

TEST_F(Files, SavedMatricesLoadAgain) {
  const std::string path = folder / "a.mtx";
  save_matrix_market(path, test::table1_of_004());
  save_matrix_market(path, test::table1_of_004(7));
  EXPECT_EQ(load_matrix_market(path), test::table1_of_004(7));
  EXPECT_EQ(num_files(), 1U) << "a temporary file was left behind";
}

TEST_F(Files, ErrorsNameTheFile) {
  EXPECT_ERROR(load_matrix_market(folder / "none.mtx"), ErrorCode::io, {"none.mtx", "No such file"});
  EXPECT_ERROR(load_matrix_market(folder), ErrorCode::io, {"directory"});
  EXPECT_ERROR(save_matrix_market(folder / "no" / "a.mtx", CommMatrix()), ErrorCode::io,
               {"a.mtx", "No such file"});
}

TEST_F(Files, AFailedWriteLosesNothing) {
  const std::string path = folder / "a.plan";
  const CommMatrix matrix = test::table1_of_004();
  std::ofstream(path) << "old";
  // A name of two words is refused in the middle of writing.
  EXPECT_ERROR(save_schedule(path, {.scheduler = "two words", .schedule = Schedule(8)}, matrix),
               ErrorCode::invalid_argument, {"two words"});
  std::string content;
  std::ifstream(path) >> content;
  EXPECT_EQ(content, "old");
  EXPECT_EQ(num_files(), 1U);
}

TEST_F(Files, PackedMatricesAreUnpacked) {
  const std::string path = folder / "a.mtx";
  save_matrix_market(path, test::table1_of_004());
  ASSERT_EQ(std::system(("gzip -k " + path).c_str()), 0);
  EXPECT_EQ(load_matrix_market(path + ".gz"), test::table1_of_004());
  std::filesystem::resize_file(path + ".gz", std::filesystem::file_size(path + ".gz") / 2);
  EXPECT_ERROR(load_matrix_market(path + ".gz"), ErrorCode::io, {"a.mtx.gz:", "cannot be read further"});
}

TEST_F(Files, LinksStayAndModesAreKept) {
  const std::filesystem::path file = folder / "a.mtx";
  const std::filesystem::path link = folder / "link.mtx";
  save_matrix_market(file, test::table1_of_004());
  std::filesystem::permissions(file, std::filesystem::perms{0600});
  std::filesystem::create_symlink("a.mtx", link);
  save_matrix_market(link, test::table1_of_004(7));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(load_matrix_market(file), test::table1_of_004(7));
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms{0600});
  std::filesystem::create_symlink("not yet there.mtx", folder / "dangling.mtx");
  save_matrix_market(folder / "dangling.mtx", test::table1_of_004());
  EXPECT_TRUE(std::filesystem::is_regular_file(folder / "not yet there.mtx"));
  EXPECT_EQ(num_files(), 4U);
}

TEST_F(Files, LinesWithoutEndDoNotFillTheMemory) {
  EXPECT_ERROR(load_matrix_market("/dev/zero"), ErrorCode::limit, {"/dev/zero:1", "characters"});
}

TEST_F(Files, DevicesAreNotReplaced) {
  save_matrix_market("/dev/null", test::table1_of_004());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_ERROR(save_matrix_market("/dev/full", test::table1_of_004()), ErrorCode::io,
                 {"/dev/full", "No space"});
  }
}

}  // namespace
}  // namespace nuice
