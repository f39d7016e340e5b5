// SPDX-License-Identifier: BSD-3-Clause
// Reading lines with their numbers, and writing files so that a failure loses nothing.
#pragma once

#include <charconv>
#include <fstream>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/error.hpp"

namespace nuice::core {

/// Hands out the lines of a stream; its errors carry "name:line: ".
class LineReader {
 public:
  static constexpr std::size_t longest_line = std::size_t{1} << 26;

  LineReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  /// The next line without its end ("\n" or "\r\n"); false at the end of the file. A byte order mark at the beginning is
  /// passed over. Throws Error io where the file cannot be read, limit for a line above longest_line, parse for a file that
  /// begins as no text does.
  bool next(std::string& line);
  /// Of the line that was read last, from 1.
  std::size_t line_number() const { return line_number_; }
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(ErrorCode code, const std::string& what) const;

 private:
  bool get_line(std::string& line);
  int next_character(std::streambuf& from) const;

  std::istream& in_;
  std::string name_;
  std::size_t line_number_ = 0;
};

/// The words of a line, separated by blanks or tabs. Views into `line`.
std::vector<std::string_view> split_words(std::string_view line);

/// Whether all of `word` is a number of this type; sets `value` only then. A base may be given for integers.
template <typename T, typename... Base>
bool parse_number(std::string_view word, T& value, Base... base) {
  T parsed{};
  const auto result = std::from_chars(word.data(), word.data() + word.size(), parsed, base...);
  if (result.ec != std::errc{} || result.ptr != word.data() + word.size()) return false;
  value = parsed;
  return true;
}

/// A to Z made small.
std::string lower(std::string_view word);

/// Why a file that begins so cannot be read as text: what it is packed by, or that it is UTF-16. Empty for text.
std::string why_no_text(std::string_view begin);

/// Calls write with a stream to a new file next to `path`, then renames it to `path`.
/// On any failure the new file is removed, `path` is as it was, and Error io is thrown.
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace nuice::core
