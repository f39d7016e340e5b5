// SPDX-License-Identifier: BSD-3-Clause
// What every transport of active messages must do. Each case is the program of one rank; the loop-back tests run it in
// threads, the MPI tests under mpiexec, on all transports.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "nuice/am/endpoint.hpp"

namespace nuice::test {

using MakeTransport = std::function<std::unique_ptr<am::Transport>()>;

struct ConformanceCase {
  const char* name;
  /// effort: 1 where a message costs microseconds (one rank at a time), more where it costs less.
  void (*run)(const MakeTransport& make, int effort);
};

/// All, with those of error_cases().
std::span<const ConformanceCase> conformance_cases();
/// A handler throws while a rank is in a call (conformance_errors.cpp).
std::span<const ConformanceCase> error_cases();

}  // namespace nuice::test
