// SPDX-License-Identifier: BSD-3-Clause
// A file to read from, unpacked on the way if gzip has packed it; known by its first bytes and not by its name.
#pragma once

#include <array>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>

namespace nuice::core {

class UnpackedFile : public std::istream {
 public:
  /// Throws Error io with the system's reason. A damaged file is bad() where the damage begins.
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

}  // namespace nuice::core
