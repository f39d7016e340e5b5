// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_calibrate/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <initializer_list>

namespace nuice::calibrate {

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

double rounded(double value, std::string_view unit) {
  if (!(value > 0) || !std::isfinite(value) || unit == "B") return value;
  const auto four_digits = [](double x) { return std::strtod(fmt::format("{:.3e}", x).c_str(), nullptr); };
  if (unit == "s") {
    for (const double factor : {1.0, 1e-3, 1e-6, 1e-9})
      if (value >= factor || factor == 1e-9) return four_digits(value / factor) * factor;
  }
  if (unit == "s/B") {
    for (const double factor : {1e9, 1e6, 1e3})
      if (1 / value >= factor || factor == 1e3) return 1 / (four_digits(1 / value / factor) * factor);
  }
  return four_digits(value);
}

}  // namespace nuice::calibrate
