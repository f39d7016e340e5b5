// SPDX-License-Identifier: BSD-3-Clause
#include "core/support/option_table.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace nuice::options {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::parse, "options: " + what); }

/// Reads a text such as "64KiB" or "64". Without a unit the value is in seconds or bytes.
std::string read_quantity(const std::string& text, core::Dimension dimension, double& value) {
  std::string why;
  double number = 0;
  if (core::parse_number(text, number) && std::isfinite(number)) {
    value = number;
    return {};
  }
  return core::parse_quantity(text, dimension, value, why) ? "" : "is wrong: " + why;
}

}  // namespace

std::vector<NamedValue> split_options(std::string_view text) {
  std::vector<NamedValue> all;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at == text.size()) return all;
    std::size_t end = at;
    while (end < text.size() && !is_blank(text[end]) && text[end] != '=') ++end;
    const std::string name(text.substr(at, end - at));
    if (end == text.size() || text[end] != '=')
      fail("\"" + name + "\" has no value; write name=value, with blanks between options only");
    at = end + 1;
    const bool is_quoted = at < text.size() && text[at] == '"';
    if (is_quoted) ++at;
    end = at;
    while (end < text.size() && (is_quoted ? text[end] != '"' : !is_blank(text[end]))) ++end;
    if (is_quoted && end == text.size()) fail("the quote of " + name + " does not end");
    all.push_back({name, std::string(text.substr(at, end - at))});
    at = is_quoted ? end + 1 : end;
  }
}

std::string quoted(const std::string& value) {
  bool needs_quotes = value.empty();
  for (const char c : value) needs_quotes = needs_quotes || is_blank(c);
  return needs_quotes ? '"' + value + '"' : value;
}

/// Returns the shortest text that is read back to the same value.
std::string seconds_text(double seconds) {
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), seconds);
  return {digits.data(), end.ptr};
}

std::string names_text(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string read_size(const std::string& text, Bytes& bytes) {
  if (core::parse_number(text, bytes)) return {};
  double value = 0;
  std::string why = read_quantity(text, core::Dimension::size, value);
  if (why.empty() && (value != std::floor(value) || std::abs(value) > static_cast<double>(max_bytes)))
    why = "is a whole number of bytes, not \"" + text + "\"";
  if (why.empty()) bytes = static_cast<Bytes>(value);
  return why;
}

std::string read_seconds(const std::string& text, double& seconds) {
  return read_quantity(text, core::Dimension::time, seconds);
}

}  // namespace nuice::options
