// SPDX-License-Identifier: BSD-3-Clause
#include "core/support/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace nuice::core {
namespace {

struct Unit {
  std::string_view name;
  double factor;
  bool is_rate = false;
};

constexpr Unit times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit sizes[] = {{"B", 1},      {"KB", 1e3},      {"MB", 1e6},        {"GB", 1e9},
                          {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};
constexpr Unit per_byte[] = {{"ns/B", 1e-9},
                             {"us/B", 1e-6},
                             {"s/B", 1},
                             {"KB/s", 1e3, true},
                             {"MB/s", 1e6, true},
                             {"GB/s", 1e9, true},
                             {"MiB/s", 1048576, true},
                             {"GiB/s", 1073741824, true},
                             {"Mbit/s", 1e6 / 8, true},
                             {"Gbit/s", 1e9 / 8, true}};

std::span<const Unit> units_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return times;
    case Dimension::size:
      return sizes;
    case Dimension::time_per_byte:
      return per_byte;
  }
  return {};
}

/// Returns the unit in which the number equals the value: seconds, bytes, or seconds per byte.
const Unit& exact_unit(Dimension dimension) {
  const auto units = units_of(dimension);
  return *std::ranges::find_if(units, [](const Unit& unit) { return !unit.is_rate && unit.factor == 1; });
}

std::string names_of(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

/// Returns the shortest text in this unit that is read back to `value`; empty if there is none.
std::string text_in(const Unit& unit, Dimension dimension, double value) {
  const double number = unit.is_rate ? 1 / value / unit.factor : value / unit.factor;
  std::array<char, 40> digits{};
  for (int precision = 1; precision <= 17; ++precision) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   std::chars_format::general, precision);
    const std::string text = std::string(digits.data(), end.ptr) + " " + std::string(unit.name);
    double back = 0;
    std::string why;
    if (parse_quantity(text, dimension, back, why) && back == value) return text;
  }
  return {};
}

/// Returns whether the number in this unit is easy to read: from 1 to below 1000.
bool is_natural(const Unit& unit, double value) {
  const double number = unit.is_rate ? 1 / value / unit.factor : value / unit.factor;
  return number >= 1 && number < 1000;
}

}  // namespace

std::string quantity_text(double value, Dimension dimension) {
  std::string best;
  if (value > 0) {
    for (const Unit& unit : units_of(dimension)) {
      if (!is_natural(unit, value)) continue;
      const std::string text = text_in(unit, dimension, value);
      if (!text.empty() && (best.empty() || text.size() < best.size())) best = text;
    }
  }
  return best.empty() ? text_in(exact_unit(dimension), dimension, value) : best;
}

bool parse_quantity(std::string_view text, Dimension dimension, double& value, std::string& why) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) {
    why = "'" + std::string(text) + "' does not begin with a number";
    return false;
  }
  std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  for (const Unit& unit : units_of(dimension)) {
    if (unit.name != name) continue;
    if (number < 0 || (unit.is_rate && number == 0)) {
      why = "'" + std::string(text) + "' must " + (unit.is_rate ? "be above 0" : "not be negative");
      return false;
    }
    value = unit.is_rate ? 1 / (number * unit.factor) : number * unit.factor;
    return true;
  }
  why = name.empty() ? "'" + std::string(text) + "' has no unit"
                     : "no unit here is called '" + std::string(name) + "'";
  why += "; units: " + names_of(units_of(dimension));
  return false;
}

}  // namespace nuice::core
