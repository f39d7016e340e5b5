// SPDX-License-Identifier: BSD-3-Clause
// Reads files line by line, and writes files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "kit/errors.hpp"
#include "nuice/core/error.hpp"

namespace nuice::kit {

/// Reads the lines of a file, and removes line ends of any system.
class LineReader {
 public:
  /// Throws Error io.
  explicit LineReader(const std::string& path) : path_(path), in_(path) {
    if (!in_) throw Error(ErrorCode::io, path + ": cannot be opened");
  }

  /// Reads the next line into line(). Returns false at the end. Throws Error io.
  bool next() {
    constexpr std::size_t longest_line = std::size_t{1} << 26;  // a device may never end a line
    line_.clear();
    char next = '\0';
    while (in_.get(next) && next != '\n') {
      line_.push_back(next);
      if (line_.size() <= longest_line) continue;
      ++number_;
      fail("a line of more than {} characters", longest_line);
    }
    if (in_.bad()) throw Error(ErrorCode::io, path_ + ": cannot be read");
    if (in_.eof() && line_.empty()) return false;
    ++number_;
    if (line_.ends_with('\r')) line_.pop_back();
    return true;
  }

  const std::string& line() const { return line_; }

  /// Throws Error parse with the text "path:number: what".
  template <typename... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> what, Values&&... values) const {
    const std::string text = fmt::format(what, std::forward<Values>(values)...);
    kit::fail(ErrorCode::parse, "{}:{}: {}", path_, number_, text);
  }

 private:
  std::string path_;
  std::ifstream in_;
  std::int64_t number_ = 0;
  std::string line_;
};

/// Throws Error io.
inline void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw Error(ErrorCode::io, path + ": cannot be written");
}

inline void write_file(const std::string& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace nuice::kit
