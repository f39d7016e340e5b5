// SPDX-License-Identifier: BSD-3-Clause
// Numbers and their units for people.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

namespace nuice::kit {

/// Three digits: "1.52".
inline std::string number(double value) { return fmt::format("{:.3g}", value); }

/// With a unit that suits it: "1.52 us" for s, "3.1 GB/s" for s/B, "4096 B" for B; of another unit the number alone.
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

/// The value times a factor, with `decimals` decimals; a dash for what is not known.
inline std::string decimals(std::optional<double> value, int digits, double times = 1) {
  return value ? fmt::format("{:.{}f}", times * *value, digits) : "-";
}

}  // namespace nuice::kit
