// SPDX-License-Identifier: BSD-3-Clause
#include "kit/units.hpp"

#include <fmt/format.h>

namespace nuice::kit {

std::string number(double value) { return fmt::format("{:.3g}", value); }

std::string quantity(double value, std::string_view unit) {
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

std::string decimals(std::optional<double> value, int digits, double times) {
  return value ? fmt::format("{:.{}f}", times * *value, digits) : "-";
}

}  // namespace nuice::kit
