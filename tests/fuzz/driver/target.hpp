// SPDX-License-Identifier: BSD-3-Clause
// What every fuzz target defines: libFuzzer's entry point. Linked with driver.cpp it runs without libFuzzer.
//
// A target passes if it returns, and may throw nothing: errors that a format promises (nuice::Error) are
// caught by expect_errors_only(), anything else ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "nuice/core/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace nuice::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program with the reason: what a sanitizer does.
[[noreturn]] void fail(std::string_view reason);

inline void require(bool holds, std::string_view reason) {
  if (!holds) fail(reason);
}

/// read() may throw an Error of a code that has to do with the input, with a message of one line.
template <typename Read>
int expect_errors_only(Read read) {
  try {
    read();
  } catch (const Error& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos, "an error of several lines");
    require(error.code() != ErrorCode::state && error.code() != ErrorCode::mpi, "an error of a wrong kind");
  }
  return 0;
}

}  // namespace nuice::fuzz
