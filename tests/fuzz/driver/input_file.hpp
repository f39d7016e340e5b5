// SPDX-License-Identifier: BSD-3-Clause
// An input as a file in memory, for readers that want a path. The same path for all inputs.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "driver/target.hpp"

namespace nuice::fuzz {

class InputFile {
 public:
  explicit InputFile(const char* name) : file_(memfd_create(name, 0)) {
    require(file_ >= 0, "memfd_create failed");
    path_ = "/proc/self/fd/" + std::to_string(file_);
  }

  const std::string& hold(std::string_view text) {
    require(ftruncate(file_, 0) == 0, "ftruncate failed");
    require(pwrite(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()), "pwrite failed");
    return path_;
  }

 private:
  int file_;
  std::string path_;
};

}  // namespace nuice::fuzz
