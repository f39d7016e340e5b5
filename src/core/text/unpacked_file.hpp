// SPDX-License-Identifier: BSD-3-Clause
// A file to read from, unpacked on the way if gzip has packed it, which its first bytes say and not its name. Also a
// pipe, if some program writes to it.
#pragma once

#include <array>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>

namespace nuice::core {

class UnpackedFile : public std::istream {
 public:
  /// Throws Error io with the system's reason; for a pipe to which no process writes, after 10 s. What cannot be read or
  /// unpacked later comes out of the stream buffer as std::ios_base::failure, for which LineReader has the words.
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

/// All of a file of text that people write. Throws Error as UnpackedFile, io where it cannot be read, limit above 64 MiB.
std::string read_text(const std::string& path);

}  // namespace nuice::core
