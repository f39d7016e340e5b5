// SPDX-License-Identifier: BSD-3-Clause
// Reads lines with their numbers, and writes files so that a failure loses nothing.
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

/// A reader of the lines of a stream. Its errors begin with "name:line: ".
class LineReader {
 public:
  static constexpr std::size_t longest_line = std::size_t{1} << 26;

  LineReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  /// Reads the next line without its end ("\n" or "\r\n"). Returns false at the end of the file. Skips a byte
  /// order mark at the beginning. Throws Error: `io` if the file cannot be read, `limit` if a line is longer
  /// than longest_line, `parse` if the beginning of the file is not text.
  bool next(std::string& line);
  /// Returns the number of the last line read, counted from 1.
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

/// Returns the words of a line, which blanks or tabs separate, as views into `line`.
std::vector<std::string_view> split_words(std::string_view line);

/// Returns whether all of `word` is a number of this type. If so, sets `value`. A base may be given for
/// integers.
template <typename T, typename... Base>
bool parse_number(std::string_view word, T& value, Base... base) {
  T parsed{};
  const auto result = std::from_chars(word.data(), word.data() + word.size(), parsed, base...);
  if (result.ec != std::errc{} || result.ptr != word.data() + word.size()) return false;
  value = parsed;
  return true;
}

/// Returns the word with A to Z replaced by a to z.
std::string lower(std::string_view word);

/// Returns why a file that begins with `begin` is not text: it is packed by the named program, or it is
/// UTF-16. Returns an empty string if the file is text.
std::string why_no_text(std::string_view begin);

/// Calls write() with a stream to a new file next to `path`, then renames the new file to `path`. On any
/// failure the new file is removed, `path` is unchanged, and Error `io` is thrown.
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace nuice::core
