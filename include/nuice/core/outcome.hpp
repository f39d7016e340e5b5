// SPDX-License-Identifier: BSD-3-Clause
// The outcome of a step on this rank, as a value that ranks can exchange before they react to it.
#pragma once

#include <optional>
#include <utility>

#include "nuice/core/error.hpp"
#include "nuice/core/types.hpp"

namespace nuice {

/// The error of this rank, or nothing.
using Outcome = std::optional<Error>;

/// Returns the exception that is being handled; for use inside a catch block. An Error is returned unchanged.
/// Other exceptions become an Error whose text begins with "rank N": limit for std::bad_alloc and
/// std::length_error, invalid_argument for all others.
Error current_error(Rank rank);

/// Runs the step and returns its outcome. Never throws.
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
