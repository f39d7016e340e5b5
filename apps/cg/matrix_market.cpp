// SPDX-License-Identifier: BSD-3-Clause
// Reads real sparse matrices in Matrix Market's coordinate format. (nuice's own reader is for communication
// matrices: whole numbers of bytes.)
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "cg/matrix.hpp"
#include "nuice/core/error.hpp"

namespace nuice::cg {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path) {
    if (!in_) throw Error(ErrorCode::io, path + ": cannot be opened");
  }

  Matrix read() {
    read_header();
    next_line("the line with rows, columns, entries");
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t count = 0;
    if (!(fields_ >> rows >> columns >> count) || rows < 0 || columns < 0 || count < 0)
      fail("expected rows, columns and entries, found \"" + line_ + "\"");
    require_end();
    std::vector<Entry> entries;
    entries.reserve(
        static_cast<std::size_t>(std::min<std::int64_t>(symmetric_ ? 2 * count : count, 1 << 24)));
    for (std::int64_t i = 0; i < count; ++i) read_entry(i, rows, columns, count, entries);
    if (find_line()) fail("more than the " + std::to_string(count) + " entries that were announced");
    return from_entries(rows, columns, std::move(entries));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::parse, path_ + ":" + std::to_string(number_) + ": " + what);
  }

  void read_header() {
    number_ = 1;
    std::getline(in_, line_);
    std::ranges::transform(line_, line_.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::istringstream words(line_);
    std::string banner, object, format, field, symmetry;
    words >> banner >> object >> format >> field >> symmetry;
    if (banner != "%%matrixmarket" || object != "matrix") fail("not a Matrix Market matrix");
    if (format != "coordinate") fail("format \"" + format + "\"; only coordinate is read");
    if (field != "real" && field != "integer" && field != "double" && field != "pattern")
      fail("field \"" + field + "\"; only real, integer and pattern are read");
    if (symmetry != "general" && symmetry != "symmetric")
      fail("symmetry \"" + symmetry + "\"; only general and symmetric are read");
    pattern_ = field == "pattern";
    symmetric_ = symmetry == "symmetric";
  }

  /// To the next line that is neither empty nor a comment; false at the end.
  bool find_line() {
    while (std::getline(in_, line_)) {
      ++number_;
      if (line_.empty() || line_[0] == '%' || line_.find_first_not_of(" \t\r") == std::string::npos) continue;
      fields_.clear();
      fields_.str(line_);
      return true;
    }
    return false;
  }
  void next_line(const std::string& what) {
    if (!find_line()) fail("the file ends where " + what + " should be");
  }
  void require_end() {
    std::string rest;
    if (fields_ >> rest) fail("too much on the line: \"" + rest + "\"");
  }

  void read_entry(std::int64_t i, std::int64_t rows, std::int64_t columns, std::int64_t count,
                  std::vector<Entry>& entries) {
    next_line("entry " + std::to_string(i + 1) + " of " + std::to_string(count));
    Entry entry{.row = 0, .column = 0, .value = 1};
    if (!(fields_ >> entry.row >> entry.column)) fail("expected row and column, found \"" + line_ + "\"");
    if (!pattern_) entry.value = read_value();
    require_end();
    if (entry.row < 1 || entry.row > rows || entry.column < 1 || entry.column > columns)
      fail("place (" + std::to_string(entry.row) + ", " + std::to_string(entry.column) + ") is outside");
    --entry.row;
    --entry.column;
    entries.push_back(entry);
    if (symmetric_ && entry.row != entry.column) entries.push_back({entry.column, entry.row, entry.value});
  }

  double read_value() {
    std::string word;
    fields_ >> word;
    const char* const begin = word.data() + (word.starts_with('+') ? 1 : 0);
    const char* const end = word.data() + word.size();
    double value = 0;
    const auto [stop, status] = std::from_chars(begin, end, value);
    if (word.empty() || status != std::errc() || stop != end || !std::isfinite(value))
      fail("expected a finite value, found \"" + word + "\"");
    return value;
  }

  std::string path_;
  std::ifstream in_;
  std::int64_t number_ = 0;
  std::string line_;
  std::istringstream fields_;
  bool pattern_ = false;
  bool symmetric_ = false;
};

}  // namespace

Matrix load_matrix(const std::string& path) { return Reader(path).read(); }

}  // namespace nuice::cg
