// SPDX-License-Identifier: BSD-3-Clause
// A file for reading. If its first bytes show that gzip has packed it, it is unpacked; its name does not
// matter. It may be a pipe to which another program writes.
#pragma once

#include <array>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>

namespace nuice::core {

class UnpackedFile : public std::istream {
 public:
  /// Opens the file. Throws Error `io` with the system's reason, or, for a pipe to which no process writes,
  /// after 10 s. If data cannot be read or unpacked later, the stream buffer throws std::ios_base::failure,
  /// which LineReader translates.
  explicit UnpackedFile(const std::string& path);

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(const std::string& path);

   protected:
    int_type underflow() override;

   private:
    struct Close {
      void operator()(void* file) const;
    };
    std::unique_ptr<void, Close> file_;  // gzFile
    std::array<char, 1 << 16> content_{};
  };
  Buffer buffer_;
};

/// Returns the contents of a text file. Throws Error like UnpackedFile(), `io` if the file cannot be read,
/// and `limit` if it is above 64 MiB.
std::string read_text(const std::string& path);

}  // namespace nuice::core
