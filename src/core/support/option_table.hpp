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

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
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

struct NamedValue {
  std::string name;
  std::string value;
};
/// Throws Error parse for a word without '=' or a quote that does not end.
std::vector<NamedValue> split_options(std::string_view text);
/// As it stands in a text: in quotes if need be.
std::string quoted(const std::string& value);
std::string names_text(std::span<const std::string_view> names);
std::string seconds_text(double seconds);
// Empty, or what is wrong, as Kind::read().
std::string read_size(const std::string& text, Bytes& bytes);
std::string read_seconds(const std::string& text, double& seconds);

// The kinds of options. print(): the value as text. read(): sets it; why_not(): whether it is allowed. Both
// return what is wrong, for a sentence that begins with the option's name, or nothing.

template <typename O>
struct Text {
  At<O, std::string> at;
  std::string print(O& options) const { return at(options); }
  std::string read(const std::string& text, O& options) const {
    at(options) = text;
    return {};
  }
  std::string why_not(O& /*options*/) const { return {}; }
};

template <typename O>
struct Flag {
  At<O, bool> at;
  std::string print(O& options) const { return at(options) ? "true" : "false"; }
  std::string read(const std::string& text, O& options) const {
    if (text != "true" && text != "false") return "is true or false, not \"" + text + "\"";
    at(options) = text == "true";
    return {};
  }
  std::string why_not(O& /*options*/) const { return {}; }
};

template <typename T>
std::string why_not_between(T value, T least, T most) {
  if (value < least) return "is " + std::to_string(value) + ", below " + std::to_string(least);
  if (value > most) return "is " + std::to_string(value) + ", above " + std::to_string(most);
  return {};
}

/// A whole number of any type.
template <typename O, typename T>
struct Whole {
  At<O, T> at;
  T least;
  T most = std::numeric_limits<T>::max();
  std::string print(O& options) const { return std::to_string(at(options)); }
  std::string read(const std::string& text, O& options) const {
    return core::parse_number(text, at(options)) ? "" : "is a whole number, not \"" + text + "\"";
  }
  std::string why_not(O& options) const { return why_not_between(at(options), least, most); }
};

/// Bytes, with a unit or without.
template <typename O>
struct Size {
  At<O, Bytes> at;
  Bytes least;
  Bytes most;
  std::string print(O& options) const { return std::to_string(at(options)); }
  std::string read(const std::string& text, O& options) const { return read_size(text, at(options)); }
  std::string why_not(O& options) const { return why_not_between(at(options), least, most); }
};

/// A time, with a unit or in seconds; not negative.
template <typename O>
struct Seconds {
  At<O, double> at;
  std::string print(O& options) const { return seconds_text(at(options)); }
  std::string read(const std::string& text, O& options) const { return read_seconds(text, at(options)); }
  std::string why_not(O& options) const {
    return at(options) >= 0 ? "" : "is " + print(options) + ", not a time of 0 or more";
  }
};

/// One of some names, as an enum whose values are 0, 1, ...
template <typename O, typename T>
struct OneOf {
  At<O, T> at;
  std::span<const std::string_view> names;
  std::string print(O& options) const {
    const auto index = static_cast<std::size_t>(at(options));
    return index < names.size() ? std::string(names[index]) : std::to_string(index);
  }
  std::string read(const std::string& text, O& options) const {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) return "is one of " + names_text(names) + ", not \"" + text + "\"";
    at(options) = static_cast<T>(found - names.begin());
    return {};
  }
  std::string why_not(O& options) const {
    const auto index = static_cast<std::size_t>(at(options));
    return index < names.size() ? "" : "has the unknown value " + std::to_string(index);
  }
};

/// A row. Which kinds there are is up to the table.
template <typename Kind>
struct Option {
  std::string_view name;     ///< "device.chunk"
  std::string_view summary;  ///< One line.
  Kind kind;
};

/// The options are read only, though members are reached as by a writer.
template <typename O, typename Kind>
std::string option_text(const Option<Kind>& row, const O& options) {
  return std::visit([&](const auto& kind) { return kind.print(const_cast<O&>(options)); }, row.kind);
}

template <typename O, typename Kind>
std::string why_not_option(const Option<Kind>& row, const O& options) {
  return std::visit([&](const auto& kind) { return kind.why_not(const_cast<O&>(options)); }, row.kind);
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
        std::visit([&](const auto& kind) { return kind.read(value, options); }, found->kind);
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
