// SPDX-License-Identifier: BSD-3-Clause
// Formats numbers with units for people.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

namespace nuice::kit {

/// Returns the number with three digits: "1.52".
inline std::string number(double value) { return fmt::format("{:.3g}", value); }

/// Returns the value in a suitable unit: "1.52 us" for s, "3.1 GB/s" for s/B, "4096 B" for B. For another
/// unit, returns only the number.
inline std::string quantity(double value, std::string_view unit) {
  if (unit == "s") {
    if (value >= 1) return number(value) + " s";
    if (value >= 1e-3) return number(value * 1e3) + " ms";
    if (value >= 1e-6 || value == 0) return number(value * 1e6) + " us";
    return number(value * 1e9) + " ns";
  }
  if (unit == "s/B") {
    const double rate = value > 0 ? 1 / value : 0;
    return rate >= 1e9 ? number(rate / 1e9) + " GB/s" : number(rate / 1e6) + " MB/s";
  }
  if (unit == "B") return fmt::format("{:.0f} B", value);
  return number(value);
}

/// Returns the value times a factor, with this number of decimals. Returns a dash if the value is unknown.
inline std::string decimals(std::optional<double> value, int digits, double times = 1) {
  return value ? fmt::format("{:.{}f}", times * *value, digits) : "-";
}

}  // namespace nuice::kit
