// SPDX-License-Identifier: BSD-3-Clause
// Options of a struct as a table. From its rows come reading them from text, writing them, checking them and comparing them
// on all ranks, so that an option is one member and one row.
//
//   constexpr OptionKind<PlanOptions> rows...: {"device.chunk", "summary", Size<PlanOptions>{at, 16, INT_MAX}}
//   parse_options(text, table, options);      // "device.chunk=64KiB scheduler=coloring"
//   option_text(row, options);                // "65536"
//
// A text is a list of name=value, separated by blanks or line ends; a value with blanks stands in double quotes.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/support/quantity.hpp"
#include "core/text/file_io.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/types.hpp"

namespace nuice::options {

/// Where in the struct.
template <typename Options, typename T>
using At = T& (*)(Options&);

template <typename Options>
struct Text {
  At<Options, std::string> at;
};
template <typename Options>
struct Flag {
  At<Options, bool> at;
};
/// A whole number of any type.
template <typename Options, typename T>
struct Whole {
  At<Options, T> at;
  T least;
  T most = std::numeric_limits<T>::max();
};
/// Bytes, with a unit or without.
template <typename Options>
struct Size {
  At<Options, Bytes> at;
  Bytes least;
  Bytes most;
};
/// A time, with a unit or in seconds; not negative.
template <typename Options>
struct Seconds {
  At<Options, double> at;
};
/// One of some names, as an enum whose values are 0, 1, ...
template <typename Options, typename T>
struct OneOf {
  At<Options, T> at;
  std::span<const std::string_view> names;
};

/// A row. Which kinds there are is up to the table.
template <typename Kind>
struct Option {
  std::string_view name;     ///< "device.chunk"
  std::string_view summary;  ///< One line.
  Kind kind;
};

struct NamedValue {
  std::string name;
  std::string value;
};
/// Throws Error parse for a word without '=' or a quote that does not end.
std::vector<NamedValue> split_options(std::string_view text);
/// As it stands in a text: in quotes if need be.
std::string quoted(const std::string& value);

// What a value is as text, whether a text is one, and whether a value is allowed. why: what is wrong, for a sentence that
// begins with the option's name.
template <typename O>
std::string print(const Text<O>& kind, O& options) {
  return kind.at(options);
}
template <typename O>
std::string print(const Flag<O>& kind, O& options) {
  return kind.at(options) ? "true" : "false";
}
template <typename O, typename T>
std::string print(const Whole<O, T>& kind, O& options) {
  return std::to_string(kind.at(options));
}
template <typename O>
std::string print(const Size<O>& kind, O& options) {
  return std::to_string(kind.at(options));
}
std::string seconds_text(double seconds);
template <typename O>
std::string print(const Seconds<O>& kind, O& options) {
  return seconds_text(kind.at(options));
}
template <typename O, typename T>
std::string print(const OneOf<O, T>& kind, O& options) {
  const auto index = static_cast<std::size_t>(kind.at(options));
  return index < kind.names.size() ? std::string(kind.names[index]) : std::to_string(index);
}

std::string names_text(std::span<const std::string_view> names);

template <typename O>
std::string read(const Text<O>& kind, const std::string& text, O& options) {
  kind.at(options) = text;
  return {};
}
template <typename O>
std::string read(const Flag<O>& kind, const std::string& text, O& options) {
  if (text != "true" && text != "false") return "is true or false, not \"" + text + "\"";
  kind.at(options) = text == "true";
  return {};
}
template <typename O, typename T>
std::string read(const Whole<O, T>& kind, const std::string& text, O& options) {
  return core::parse_number(text, kind.at(options)) ? "" : "is a whole number, not \"" + text + "\"";
}
std::string read_size(const std::string& text, Bytes& bytes);
template <typename O>
std::string read(const Size<O>& kind, const std::string& text, O& options) {
  return read_size(text, kind.at(options));
}
std::string read_seconds(const std::string& text, double& seconds);
template <typename O>
std::string read(const Seconds<O>& kind, const std::string& text, O& options) {
  return read_seconds(text, kind.at(options));
}
template <typename O, typename T>
std::string read(const OneOf<O, T>& kind, const std::string& text, O& options) {
  for (std::size_t i = 0; i < kind.names.size(); ++i) {
    if (kind.names[i] != text) continue;
    kind.at(options) = static_cast<T>(i);
    return {};
  }
  return "is one of " + names_text(kind.names) + ", not \"" + text + "\"";
}

template <typename O, typename Kind>
std::string why_not(const Kind& kind, O& options) {
  if constexpr (requires { kind.least; }) {
    const auto value = kind.at(options);
    if (value < kind.least) return "is " + std::to_string(value) + ", below " + std::to_string(kind.least);
    if (value > kind.most) return "is " + std::to_string(value) + ", above " + std::to_string(kind.most);
  } else if constexpr (std::is_same_v<Kind, Seconds<O>>) {
    if (!(kind.at(options) >= 0)) return "is " + seconds_text(kind.at(options)) + ", not a time of 0 or more";
  } else if constexpr (requires { kind.names; }) {
    const auto index = static_cast<std::size_t>(kind.at(options));
    if (index >= kind.names.size()) return "has the unknown value " + std::to_string(index);
  }
  return {};
}

/// The options are read only, though members are reached as by a writer.
template <typename O, typename Kind>
std::string option_text(const Option<Kind>& row, const O& options) {
  return std::visit([&](const auto& kind) { return print(kind, const_cast<O&>(options)); }, row.kind);
}

template <typename O, typename Kind>
std::string why_not_option(const Option<Kind>& row, const O& options) {
  return std::visit([&](const auto& kind) { return why_not(kind, const_cast<O&>(options)); }, row.kind);
}

/// Sets what the text says. Throws Error parse; options may then be changed in part.
template <typename O, typename Kind>
void parse_options(std::string_view text, std::span<const Option<Kind>> table, O& options) {
  for (const auto& [name, value] : split_options(text)) {
    const Option<Kind>* found = nullptr;
    std::vector<std::string_view> known;
    for (const Option<Kind>& row : table) {
      known.push_back(row.name);
      if (row.name == name) found = &row;
    }
    if (found == nullptr)
      throw Error(ErrorCode::parse, "there is no option \"" + name + "\"; known: " + names_text(known));
    const std::string why =
        std::visit([&](const auto& kind) { return read(kind, value, options); }, found->kind);
    if (!why.empty()) throw Error(ErrorCode::parse, "option " + name + " " + why);
  }
}

/// What differs from the defaults, as parse_options() takes it.
template <typename O, typename Kind>
std::string options_text(std::span<const Option<Kind>> table, const O& options, const O& defaults) {
  std::string text;
  for (const Option<Kind>& row : table) {
    const std::string value = option_text(row, options);
    if (value == option_text(row, defaults)) continue;
    text += (text.empty() ? "" : " ") + std::string(row.name) + "=" + quoted(value);
  }
  return text;
}

}  // namespace nuice::options
