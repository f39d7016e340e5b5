// SPDX-License-Identifier: BSD-3-Clause
// What every transport of active messages must do. Each case is the program of one rank; the loop-back tests run it in
// threads, the MPI tests under mpiexec, on all transports.
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
  /// effort: 1 where a message costs microseconds (one rank at a time), more where it costs less.
  void (*run)(const MakeTransport& make, int effort);
};

/// All, with those below.
std::span<const ConformanceCase> conformance_cases();
/// Many items in one message, and levels (conformance_coalescing.cpp).
std::span<const ConformanceCase> coalescing_cases();
/// A handler throws while a rank is in a call (conformance_errors.cpp).
std::span<const ConformanceCase> error_cases();

// --- What cases have in common ---

struct Word {
  std::uint64_t value;
};

inline std::size_t as_index(Rank rank) { return static_cast<std::size_t>(rank); }

/// What the step throws, if it does.
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
