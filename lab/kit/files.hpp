// SPDX-License-Identifier: BSD-3-Clause
// Files that programs read line by line, and files that they write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace nuice::kit {

/// The lines of a file, without ends of lines of any system.
class LineReader {
 public:
  /// Throws Error io.
  explicit LineReader(const std::string& path);
  /// The next line, in line(); false at the end. Throws Error io.
  bool next();
  const std::string& line() const { return line_; }
  /// Throws Error parse: "path:number: what".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string path_;
  std::ifstream in_;
  std::int64_t number_ = 0;
  std::string line_;
};

/// Throws Error io.
void write_file(const std::string& path, std::span<const std::byte> bytes);
void write_file(const std::string& path, std::string_view text);

}  // namespace nuice::kit
