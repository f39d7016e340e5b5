// SPDX-License-Identifier: BSD-3-Clause
// What programs print with --json: one object a line, with null for what is not known.
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
/// A text that may be empty.
inline Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// The objects of all rows.
template <typename Rows, typename Of>
Json array(const Rows& rows, Of&& of) {
  Json all = Json::array();
  for (const auto& row : rows) all.push_back(of(row));
  return all;
}

/// Text that is not UTF-8, as a file's name may be, is replaced.
inline std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nuice::kit
