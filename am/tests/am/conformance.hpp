// SPDX-License-Identifier: BSD-3-Clause
// The requirements for every transport of active messages. Each case is the program of one rank. The
// loop-back tests run it in threads, the MPI tests under mpiexec, on all transports.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "nuice/am/endpoint.hpp"
#include "nuice/core/error.hpp"

namespace nuice::test {

using MakeTransport = std::function<std::unique_ptr<am::Transport>()>;

struct ConformanceCase {
  const char* name;
  /// effort: 1 if a message costs microseconds (one rank at a time), more if it costs less.
  void (*run)(const MakeTransport& make, int effort);
};

/// Returns all cases, including the cases below.
std::span<const ConformanceCase> conformance_cases();
/// Cases with many items in one message, and with levels (conformance_coalescing.cpp).
std::span<const ConformanceCase> coalescing_cases();
/// Cases whose handlers throw while a rank is in a call (conformance_errors.cpp).
std::span<const ConformanceCase> error_cases();

// --- Parts shared by the cases ---

struct Word {
  std::uint64_t value;
};

inline std::size_t as_index(Rank rank) { return static_cast<std::size_t>(rank); }

/// Returns the error that the step throws, if it throws one.
template <typename Step>
std::optional<Error> error_of(Step&& step) {
  try {
    step();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace nuice::test
