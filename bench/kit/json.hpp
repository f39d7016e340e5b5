// SPDX-License-Identifier: BSD-3-Clause
// JSON output of programs: one object per line, with null for unknown values.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace nuice::kit {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
/// Returns the text, or null if it is empty.
inline Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// Returns the array of all rows' objects.
template <typename Rows, typename Of>
Json array(const Rows& rows, Of&& of) {
  Json all = Json::array();
  for (const auto& row : rows) all.push_back(of(row));
  return all;
}

/// Returns the object as a line. Text that is not UTF-8, such as a file's name, is replaced.
inline std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nuice::kit
