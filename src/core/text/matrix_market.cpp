// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes Matrix Market files (Boisvert, Pozo, Remington, NIST IR 5935, 1996): communication
// matrices with row = sender, column = receiver, value = bytes, and sparse matrices of real numbers. No
// library is used, because every error must name its line, and because a fractional or huge size must be
// refused instead of rounded.
#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <utility>

#include "core/text/file_io.hpp"
#include "core/text/unpacked_file.hpp"
#include "nuice/core/text_io.hpp"

namespace nuice {
namespace {

using core::LineReader;
using core::lower;

struct Banner {
  bool coordinate = false;  // otherwise "array": every value, column by column
  bool pattern = false;     // no values: one byte each
  bool integer = false;     // otherwise "real"
  bool symmetric = false;   // only the lower triangle is listed
};

struct SizeLine {
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  std::uint64_t num_entries = 0;
};

constexpr std::uint64_t most_rows = std::numeric_limits<std::int32_t>::max();

constexpr const char* example = "\"%%MatrixMarket matrix coordinate integer general\"";

/// Returns the beginning of a line, for an error text.
std::string beginning_of(const std::string& line) {
  constexpr std::size_t most = 40;
  return line.size() <= most ? line : line.substr(0, most) + "...";
}

/// Removes a plus sign. C's scanf, with which other programs read these files, accepts "+7", but from_chars
/// does not.
std::string_view without_plus(std::string_view word) {
  const bool has_plus = word.size() > 1 && word[0] == '+' && word[1] != '-';
  return has_plus ? word.substr(1) : word;
}

template <typename Number>
bool parse(std::string_view word, Number& value) {
  return core::parse_number(without_plus(word), value);
}

Banner read_banner(LineReader& lines) {
  std::string line;
  if (!lines.next(line)) lines.fail(std::string("empty file, expected ") + example);
  const auto words = core::split_words(line);
  if (words.empty() || lower(words[0]) != "%%matrixmarket") {
    const bool is_comment = words.empty() || words[0].starts_with('%') || words[0].starts_with('#');
    lines.fail((is_comment ? "a comment or blank line" : "\"" + beginning_of(line) + "\"") +
               std::string(" where the first line of a Matrix Market file must be ") + example);
  }
  if (words.size() != 5 || lower(words[1]) != "matrix") lines.fail(std::string("expected ") + example);
  const std::string format = lower(words[2]);
  const std::string field = lower(words[3]);
  const std::string symmetry = lower(words[4]);
  if (format != "coordinate" && format != "array") lines.fail("unknown format \"" + format + "\"");
  const bool integer = field == "integer" || field == "unsigned-integer";  // SciPy writes "unsigned-integer"
  const bool real = field == "real" || field == "double";
  if (!integer && !real && field != "pattern") {
    lines.fail("values of kind \"" + field + "\" are not read; expected integer, real or pattern");
  }
  if (symmetry != "general" && symmetry != "symmetric") {
    lines.fail("symmetry \"" + symmetry + "\" is not supported; expected general or symmetric");
  }
  const Banner banner{format == "coordinate", field == "pattern", integer, symmetry == "symmetric"};
  if (banner.pattern && !banner.coordinate) lines.fail("an array cannot be of kind \"pattern\"");
  return banner;
}

/// Reads the next line that is neither blank nor a comment.
bool next_data_line(LineReader& lines, std::string& line) {
  while (lines.next(line)) {
    if (line.starts_with('%') || line.find_first_not_of(" \t") == std::string::npos) continue;
    return true;
  }
  return false;
}

SizeLine read_size_line(LineReader& lines, const Banner& banner, std::uint64_t most) {
  std::string line;
  if (!next_data_line(lines, line)) lines.fail("the file ends before the line with the sizes");
  const auto words = core::split_words(line);
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t entries = 0;
  const bool good = words.size() == (banner.coordinate ? 3U : 2U) && parse(words[0], rows) &&
                    parse(words[1], columns) && (!banner.coordinate || parse(words[2], entries));
  if (!good)
    lines.fail(banner.coordinate ? "expected \"rows columns entries\"" : "expected \"rows columns\"");
  if (banner.symmetric && rows != columns) {
    lines.fail(std::to_string(rows) + " rows and " + std::to_string(columns) +
               " columns; a symmetric matrix is square");
  }
  if (std::max(rows, columns) > most) {
    lines.fail(ErrorCode::limit, std::to_string(rows) + " rows and " + std::to_string(columns) +
                                     " columns, more than " + std::to_string(most));
  }
  if (!banner.coordinate) entries = banner.symmetric ? rows * (rows + 1) / 2 : rows * columns;
  return {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), entries};
}

/// Returns whether a number such as "12.50e1" has a fraction, even a tiny one. Requires a finite number that
/// parse() accepts.
bool has_fraction(std::string_view word) {
  const std::size_t mark = std::min(word.find_first_of("eE"), word.size());
  std::int64_t exponent = 0;
  // If the exponent is too large to read, the value must be zero, because otherwise the number would not be
  // finite. The same holds for an exponent too small to read.
  if (mark < word.size() && !parse(word.substr(mark + 1), exponent)) exponent = 0;
  const std::string_view digits = word.substr(0, mark);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] < '1' || digits[i] > '9') continue;
    const auto after_point =
        i < point ? -static_cast<std::int64_t>(point - i - 1) : static_cast<std::int64_t>(i - point);
    if (after_point > exponent) return true;
  }
  return false;
}

void parse_value(const LineReader& lines, std::string_view word, const Banner& banner, Bytes& bytes) {
  const std::string text(word);
  const auto too_many = [&] { lines.fail(text + " bytes, more than the largest size 2^62"); };
  if (parse(word, bytes)) {
    if (bytes < 0) lines.fail("negative size " + text);
    if (bytes > max_bytes) too_many();
    return;
  }
  double value = 0;
  if (!parse(word, value)) lines.fail("\"" + text + "\" is not a size in bytes");
  if (!std::isfinite(value) || value != std::floor(value) || has_fraction(word)) {
    lines.fail(text + " is not a whole number of bytes");
  }
  if (value < 0) lines.fail("negative size " + text);
  if (value > static_cast<double>(max_bytes)) too_many();
  if (banner.integer) lines.fail("\"" + text + "\" is not an integer");
  // The program that wrote the file may have rounded the size, and reading would round it: 2^53 + 1 is not a
  // double.
  constexpr double exact_up_to = 9007199254740992.0;
  if (value >= exact_up_to)
    lines.fail(text + " may be rounded: write sizes from 2^53 bytes without point and exponent");
  bytes = static_cast<Bytes>(value);
}

void parse_value(const LineReader& lines, std::string_view word, const Banner&, double& value) {
  if (!parse(word, value) || !std::isfinite(value))
    lines.fail("expected a finite value, found \"" + std::string(word) + "\"");
}

std::int64_t parse_place(const LineReader& lines, std::string_view word, std::int64_t size,
                         const char* what) {
  std::int64_t index = 0;
  if (!parse(word, index) || index < 1 || index > size) {
    lines.fail(std::string(what) + " " + std::string(word) + " is not in 1.." + std::to_string(size));
  }
  return index - 1;
}

/// A reader of entries. It calls add(row, column, value) for each entry. For a symmetric matrix it calls
/// add() for both halves.
template <typename Value, typename Add>
class EntryReader {
 public:
  EntryReader(LineReader& lines, const Banner& banner, const SizeLine& size, Add add)
      : lines_(lines), banner_(banner), size_(size), add_(std::move(add)) {}

  void read() {
    std::string line;
    for (std::uint64_t count = 0; count < size_.num_entries; ++count) {
      if (!next_data_line(lines_, line)) {
        lines_.fail("the file ends after " + std::to_string(count) + " of " +
                    std::to_string(size_.num_entries) + " entries");
      }
      const auto words = core::split_words(line);
      banner_.coordinate ? add_coordinate(words) : add_array_value(words);
    }
    if (next_data_line(lines_, line)) {
      lines_.fail("more than the announced " + std::to_string(size_.num_entries) + " entries");
    }
  }

 private:
  void add_coordinate(const std::vector<std::string_view>& words) {
    if (words.size() != (banner_.pattern ? 2U : 3U)) {
      lines_.fail(banner_.pattern ? "expected \"row column\"" : "expected \"row column value\"");
    }
    const std::int64_t row = parse_place(lines_, words[0], size_.num_rows, "row");
    const std::int64_t column = parse_place(lines_, words[1], size_.num_columns, "column");
    Value value = 1;
    if (!banner_.pattern) parse_value(lines_, words[2], banner_, value);
    if (banner_.symmetric && row < column) lines_.fail("an entry above the diagonal of a symmetric matrix");
    add(row, column, value);
  }

  /// Adds the next value of an array, whose values are listed column by column.
  void add_array_value(const std::vector<std::string_view>& words) {
    if (words.size() != 1) lines_.fail("expected one value");
    Value value = 0;
    parse_value(lines_, words[0], banner_, value);
    if (value != 0) add(next_row_, next_column_, value);
    if (++next_row_ == size_.num_rows) next_row_ = banner_.symmetric ? ++next_column_ : (++next_column_, 0);
  }

  void add(std::int64_t row, std::int64_t column, Value value) {
    add_(row, column, value);
    // NOLINTNEXTLINE(readability-suspicious-call-argument): the mirrored entry of a symmetric matrix
    if (banner_.symmetric && row != column) add_(column, row, value);
  }

  LineReader& lines_;
  Banner banner_;
  SizeLine size_;
  std::int64_t next_row_ = 0;  // array only
  std::int64_t next_column_ = 0;
  Add add_;
};

template <typename Value, typename Add>
void read_entries(LineReader& lines, const Banner& banner, const SizeLine& size, Add add) {
  EntryReader<Value, Add>(lines, banner, size, std::move(add)).read();
}

}  // namespace

CommMatrix read_matrix_market(std::istream& in, const std::string& name) {
  LineReader lines(in, name);
  const Banner banner = read_banner(lines);
  const SizeLine size = read_size_line(lines, banner, max_ranks);
  if (size.num_rows != size.num_columns) {
    lines.fail(std::to_string(size.num_rows) + " rows and " + std::to_string(size.num_columns) +
               " columns; a communication matrix is square");
  }
  std::vector<Message> entries;
  read_entries<Bytes>(lines, banner, size, [&](std::int64_t row, std::int64_t column, Bytes bytes) {
    if (bytes > 0) entries.push_back({static_cast<Rank>(row), static_cast<Rank>(column), bytes});
  });
  try {
    return CommMatrix::from_messages(static_cast<Rank>(size.num_rows), entries);
  } catch (const Error& error) {
    throw Error(error.code(), name + ": " + error.what());
  }
}

RealMatrix read_real_matrix(std::istream& in, const std::string& name) {
  LineReader lines(in, name);
  const Banner banner = read_banner(lines);
  const SizeLine size = read_size_line(lines, banner, most_rows);
  RealMatrix matrix{size.num_rows, size.num_columns, {}};
  read_entries<double>(lines, banner, size, [&](std::int64_t row, std::int64_t column, double value) {
    matrix.entries.push_back({row, column, value});
  });
  return matrix;
}

void write_matrix_market(std::ostream& out, const CommMatrix& matrix, const std::string& comment) {
  const std::vector<Message> entries = matrix.entries();
  out << "%%MatrixMarket matrix coordinate integer general\n";
  out << "% row: sender, column: receiver (ranks from 1), value: bytes\n";
  for (std::size_t begin = 0; begin < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', begin), comment.size());
    out << "% " << comment.substr(begin, end - begin) << '\n';
    begin = end + 1;
  }
  out << matrix.num_ranks() << ' ' << matrix.num_ranks() << ' ' << entries.size() << '\n';
  for (const Message& entry : entries) {
    out << entry.src + 1 << ' ' << entry.dst + 1 << ' ' << entry.bytes << '\n';
  }
}

CommMatrix load_matrix_market(const std::string& path) {
  core::UnpackedFile in(path);
  return read_matrix_market(in, path);
}

RealMatrix load_real_matrix(const std::string& path) {
  core::UnpackedFile in(path);
  return read_real_matrix(in, path);
}

void save_matrix_market(const std::string& path, const CommMatrix& matrix, const std::string& comment) {
  core::write_atomically(path, [&](std::ostream& out) { write_matrix_market(out, matrix, comment); });
}

}  // namespace nuice
