// SPDX-License-Identifier: BSD-3-Clause
// The options of a struct as a table. The table's rows are enough to read options from text, to write them,
// to check them and to compare them between ranks. So a new option needs only a member and a row.
//
//   rows: {"device.chunk", "summary", Size<PlanOptions>{at, 16, INT_MAX}}
//   parse_options(text, table, options);      // "device.chunk=64KiB scheduler=coloring"
//   option_text(row, options);                // "65536"
//
// A text is a list of name=value pairs. They are separated by blanks or line ends. A value with blanks is in
// double quotes.
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

/// A function that returns the option's member of the struct.
template <typename Options, typename T>
using At = T& (*)(Options&);

struct NamedValue {
  std::string name;
  std::string value;
};
/// Splits a text into options. Throws Error `parse` for a word without '=' or a quote that does not end.
std::vector<NamedValue> split_options(std::string_view text);
/// Returns the value as a text of options contains it: in quotes if necessary.
std::string quoted(const std::string& value);
std::string names_text(std::span<const std::string_view> names);
std::string seconds_text(double seconds);
// Like Kind::read(), these functions return what is wrong, or an empty string.
std::string read_size(const std::string& text, Bytes& bytes);
std::string read_seconds(const std::string& text, double& seconds);

// The kinds of options. print() returns the value as text, read() sets the value, and why_not() says whether
// the value is allowed. If something is wrong, read() and why_not() return the rest of a sentence that begins
// with the option's name; otherwise they return an empty string.

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

/// A whole number of any type, from `least` to `most`.
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

/// A number of bytes, with or without a unit.
template <typename O>
struct Size {
  At<O, Bytes> at;
  Bytes least;
  Bytes most;
  std::string print(O& options) const { return std::to_string(at(options)); }
  std::string read(const std::string& text, O& options) const { return read_size(text, at(options)); }
  std::string why_not(O& options) const { return why_not_between(at(options), least, most); }
};

/// A time that is not negative, with a unit or in seconds.
template <typename O>
struct Seconds {
  At<O, double> at;
  std::string print(O& options) const { return seconds_text(at(options)); }
  std::string read(const std::string& text, O& options) const { return read_seconds(text, at(options)); }
  std::string why_not(O& options) const {
    return at(options) >= 0 ? "" : "is " + print(options) + ", not a time of 0 or more";
  }
};

/// One of several names, stored as an enum whose values are 0, 1, ...
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

/// A row of the table. The table defines which kinds there are.
template <typename Kind>
struct Option {
  std::string_view name;     ///< The name, such as "device.chunk".
  std::string_view summary;  ///< A one-line description.
  Kind kind;
};

/// Returns an option's value as text. Does not change the options, although At<> returns a reference that
/// permits writing.
template <typename O, typename Kind>
std::string option_text(const Option<Kind>& row, const O& options) {
  return std::visit([&](const auto& kind) { return kind.print(const_cast<O&>(options)); }, row.kind);
}

template <typename O, typename Kind>
std::string why_not_option(const Option<Kind>& row, const O& options) {
  return std::visit([&](const auto& kind) { return kind.why_not(const_cast<O&>(options)); }, row.kind);
}

/// Sets the options that the text contains. If it throws Error `parse`, it may already have changed some
/// options.
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

/// Returns the options that differ from the defaults, as a text for parse_options().
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
