// SPDX-License-Identifier: BSD-3-Clause
// Errors whose text is formatted from values.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "nuice/core/error.hpp"

namespace nuice::kit {

template <typename... Values>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Values...> text, Values&&... values) {
  throw Error(code, fmt::format(text, std::forward<Values>(values)...));
}

/// Throws Error invalid_argument.
template <typename... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
  fail(ErrorCode::invalid_argument, text, std::forward<Values>(values)...);
}

}  // namespace nuice::kit
