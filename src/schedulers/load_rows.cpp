// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>

#include <filesystem>

#include "nuice/core/error.hpp"
#include "nuice/plan/rows.hpp"

namespace nuice {
namespace {

class Tables final : public Rows {
  static void require_same(std::size_t size, std::size_t expected) {
    if (size != expected)
      throw Error(ErrorCode::mismatch,
                  "its rows were built with the headers of another version of nuice: build it again");
  }
  void add_scheduler_row(const Scheduler& row, std::size_t size) override {
    require_same(size, sizeof row);
    add_scheduler(row);
  }
  void add_executor_row(const Executor& row, std::size_t size) override {
    require_same(size, sizeof row);
    add_executor(row);
  }
};

}  // namespace

void load_rows(const std::string& path) {
  // If a name has no folder, dlopen() searches only the system's folders.
  std::error_code is_none;
  const bool is_file = std::filesystem::exists(path, is_none);
  const std::string file = is_file ? std::filesystem::absolute(path).string() : path;
  void* const object = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) throw Error(ErrorCode::io, "rows cannot be loaded: " + std::string(::dlerror()));
  const auto add_rows = reinterpret_cast<void (*)(Rows&)>(::dlsym(object, "nuice_add_rows"));
  if (add_rows == nullptr)
    throw Error(ErrorCode::invalid_argument, path + ": exports no function nuice_add_rows(nuice::Rows&)");
  Tables tables;
  try {
    add_rows(tables);
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

}  // namespace nuice
