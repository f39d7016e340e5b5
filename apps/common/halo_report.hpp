// SPDX-License-Identifier: BSD-3-Clause
// What the programs with halos print of them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/halo_facts.hpp"

namespace nuice::apps {

using Json = nlohmann::ordered_json;

/// One line: messages, bytes, phases.
std::string halo_text(const HaloFacts& halo);
/// Microseconds, or a dash.
std::string exchange_text(std::optional<double> seconds);
/// One line, or none.
std::string ratio_text(std::optional<double> ratio);

/// scheduler, executor, messages, phases, max_degree, bytes: to be appended to a program's object.
void append_halo(Json& to, const HaloFacts& halo);

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

/// One line; text that is not UTF-8, as a file's name may be, is replaced.
std::string to_line(const Json& json);

}  // namespace nuice::apps
