// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market files (Boisvert, Pozo, Remington, NIST IR 5935, 1996) with row = sender, column = receiver,
// value = bytes. A reader of its own and not a library's, because every error must name its line and because
// a fractional or huge value must be refused and not rounded.
#include <cmath>
#include <limits>
#include <ostream>

#include "core/file_io.hpp"
#include "nuice/core/text_io.hpp"

namespace nuice {
namespace {

using core::LineReader;

struct Banner {
  bool coordinate = false;  // else "array": every value, column by column
  bool pattern = false;     // no values: one byte each
  bool integer = false;     // else "real"
  bool symmetric = false;   // only the lower triangle is listed
};

struct SizeLine {
  Rank num_ranks = 0;
  std::uint64_t num_entries = 0;
};

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& letter : result) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return result;
}

Banner read_banner(LineReader& lines) {
  std::string line;
  if (!lines.next(line))
    lines.fail("empty file, expected \"%%MatrixMarket matrix coordinate integer general\"");
  const auto words = core::split_words(line);
  if (words.size() != 5 || words[0] != "%%MatrixMarket" || lower(words[1]) != "matrix") {
    lines.fail("expected \"%%MatrixMarket matrix coordinate integer general\"");
  }
  const std::string format = lower(words[2]);
  const std::string field = lower(words[3]);
  const std::string symmetry = lower(words[4]);
  if (format != "coordinate" && format != "array") lines.fail("unknown format \"" + format + "\"");
  if (field != "integer" && field != "real" && field != "pattern") {
    lines.fail("values of kind \"" + field + "\" are no message sizes; expected integer, real or pattern");
  }
  if (symmetry != "general" && symmetry != "symmetric") {
    lines.fail("symmetry \"" + symmetry + "\" is not supported; expected general or symmetric");
  }
  const Banner banner{format == "coordinate", field == "pattern", field == "integer",
                      symmetry == "symmetric"};
  if (banner.pattern && !banner.coordinate) lines.fail("an array cannot be of kind \"pattern\"");
  return banner;
}

/// The next line that is neither blank nor a comment.
bool next_data_line(LineReader& lines, std::string& line) {
  while (lines.next(line)) {
    if (line.starts_with('%') || line.find_first_not_of(" \t") == std::string::npos) continue;
    return true;
  }
  return false;
}

SizeLine read_size_line(LineReader& lines, const Banner& banner) {
  std::string line;
  if (!next_data_line(lines, line)) lines.fail("the file ends before the line with the sizes");
  const auto words = core::split_words(line);
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t entries = 0;
  const bool good = words.size() == (banner.coordinate ? 3U : 2U) && core::parse_number(words[0], rows) &&
                    core::parse_number(words[1], columns) &&
                    (!banner.coordinate || core::parse_number(words[2], entries));
  if (!good)
    lines.fail(banner.coordinate ? "expected \"rows columns entries\"" : "expected \"rows columns\"");
  if (rows != columns) {
    lines.fail(std::to_string(rows) + " rows and " + std::to_string(columns) +
               " columns; a communication matrix is square");
  }
  if (rows > static_cast<std::uint64_t>(std::numeric_limits<Rank>::max())) {
    lines.fail(std::to_string(rows) + " ranks, more than " +
               std::to_string(std::numeric_limits<Rank>::max()));
  }
  if (!banner.coordinate) entries = banner.symmetric ? rows * (rows + 1) / 2 : rows * rows;
  return {static_cast<Rank>(rows), entries};
}

Bytes parse_bytes(const LineReader& lines, std::string_view word, const Banner& banner) {
  Bytes bytes = 0;
  if (core::parse_number(word, bytes)) {
    if (bytes < 0) lines.fail("negative size " + std::string(word));
    if (bytes > max_bytes) lines.fail(std::string(word) + " bytes, more than the largest size 2^62");
    return bytes;
  }
  double value = 0;
  if (!core::parse_number(word, value)) lines.fail("\"" + std::string(word) + "\" is no size in bytes");
  if (!std::isfinite(value) || value != std::floor(value)) {
    lines.fail(std::string(word) + " is no whole number of bytes");
  }
  if (value < 0) lines.fail("negative size " + std::string(word));
  if (value > static_cast<double>(max_bytes)) {
    lines.fail(std::string(word) + " bytes, more than the largest size 2^62");
  }
  if (banner.integer) lines.fail("\"" + std::string(word) + "\" is no integer");
  return static_cast<Bytes>(value);
}

Rank parse_rank(const LineReader& lines, std::string_view word, Rank num_ranks, const char* what) {
  std::int64_t index = 0;
  if (!core::parse_number(word, index) || index < 1 || index > num_ranks) {
    lines.fail(std::string(what) + " " + std::string(word) + " is not in 1.." + std::to_string(num_ranks));
  }
  return static_cast<Rank>(index - 1);
}

class EntryReader {
 public:
  EntryReader(LineReader& lines, const Banner& banner, const SizeLine& size)
      : lines_(lines), banner_(banner), size_(size) {
    // A damaged size line must not make us ask for memory that the file cannot fill.
    entries_.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(size.num_entries, 1U << 20)));
  }

  std::vector<Message> read() {
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
    return std::move(entries_);
  }

 private:
  void add_coordinate(const std::vector<std::string_view>& words) {
    if (words.size() != (banner_.pattern ? 2U : 3U)) {
      lines_.fail(banner_.pattern ? "expected \"row column\"" : "expected \"row column bytes\"");
    }
    const Rank src = parse_rank(lines_, words[0], size_.num_ranks, "row");
    const Rank dst = parse_rank(lines_, words[1], size_.num_ranks, "column");
    const Bytes bytes = banner_.pattern ? 1 : parse_bytes(lines_, words[2], banner_);
    if (banner_.symmetric && src < dst) lines_.fail("an entry above the diagonal of a symmetric matrix");
    add(src, dst, bytes);
  }

  void add_array_value(const std::vector<std::string_view>& words) {
    if (words.size() != 1) lines_.fail("expected one value");
    add(next_row_, next_column_, parse_bytes(lines_, words[0], banner_));
    if (++next_row_ == size_.num_ranks) next_row_ = banner_.symmetric ? ++next_column_ : (++next_column_, 0);
  }

  void add(Rank src, Rank dst, Bytes bytes) {
    if (bytes == 0) return;
    entries_.push_back({src, dst, bytes});
    if (banner_.symmetric && src != dst) entries_.push_back({dst, src, bytes});
  }

  LineReader& lines_;
  Banner banner_;
  SizeLine size_;
  Rank next_row_ = 0;  // array only: they are listed column by column
  Rank next_column_ = 0;
  std::vector<Message> entries_;
};

}  // namespace

CommMatrix read_matrix_market(std::istream& in, const std::string& name) {
  LineReader lines(in, name);
  const Banner banner = read_banner(lines);
  const SizeLine size = read_size_line(lines, banner);
  const std::vector<Message> entries = EntryReader(lines, banner, size).read();
  try {
    return CommMatrix::from_messages(size.num_ranks, entries);
  } catch (const Error& error) {
    throw Error(error.code(), name + ": " + error.what());
  }
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
  std::ifstream in = core::open_for_reading(path);
  return read_matrix_market(in, path);
}

void save_matrix_market(const std::string& path, const CommMatrix& matrix, const std::string& comment) {
  core::write_atomically(path, [&](std::ostream& out) { write_matrix_market(out, matrix, comment); });
}

}  // namespace nuice
