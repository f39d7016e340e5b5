// SPDX-License-Identifier: BSD-3-Clause
// Numbers for people.
#pragma once

#include <string>
#include <string_view>

namespace nuice::calibrate {

/// Three digits: "1.52".
std::string number(double value);
/// With a unit that suits it: "1.52 us", "4 KiB", "3.1 GB/s" for a time per byte.
std::string quantity(double value, std::string_view unit);

/// The value with four digits in the unit that a machine file would have it in, as more mean nothing: what
/// machine_text() writes of it is as short.
double rounded(double value, std::string_view unit);

}  // namespace nuice::calibrate
