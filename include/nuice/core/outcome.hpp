// SPDX-License-Identifier: BSD-3-Clause
// How a step ended on this rank, as a value that the ranks can tell each other before any of them acts on it.
#pragma once

#include <optional>
#include <utility>

#include "nuice/core/error.hpp"
#include "nuice/core/types.hpp"

namespace nuice {

/// What went wrong on this rank, or nothing.
using Outcome = std::optional<Error>;

/// The exception that is being handled; for use inside a catch block. An Error as it is. Others become one whose text begins
/// with "rank N": limit for std::bad_alloc and std::length_error, invalid_argument for whatever else.
Error current_error(Rank rank);

/// Runs the step here and tells how it ended. Throws nothing, whatever the step throws.
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
