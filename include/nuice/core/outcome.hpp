// SPDX-License-Identifier: BSD-3-Clause
// The outcome of a step on one rank, as a value that ranks can exchange before they react to an error.
#pragma once

#include <optional>
#include <utility>

#include "nuice/core/error.hpp"
#include "nuice/core/types.hpp"

namespace nuice {

/// The error of this rank, or nothing.
using Outcome = std::optional<Error>;

/// Returns the exception that is being handled; for use inside a catch block. An Error is returned unchanged.
/// Another exception becomes an Error whose text begins with "rank N". Its code is `limit` for std::bad_alloc
/// and std::length_error, and `invalid_argument` for all other exceptions.
Error current_error(Rank rank);

/// Runs the step and returns its outcome. attempt() never throws.
template <typename Step>
Outcome attempt(Rank rank, Step&& step) {
  try {
    std::forward<Step>(step)();
    return std::nullopt;
  } catch (...) {
    return current_error(rank);
  }
}

}  // namespace nuice
