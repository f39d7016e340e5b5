// SPDX-License-Identifier: BSD-3-Clause
// Numbers with units: "88 us", "4 MB/s", "0.2 us/B", "16 KiB".
#pragma once

#include <string>
#include <string_view>

namespace nuice::core {

enum class Dimension { time, size, time_per_byte };

/// Parses a number and a unit, with or without a blank between them. The value is in seconds, bytes, or
/// seconds per byte (rates are inverted). On failure `why` says what is wrong and what would be correct.
bool parse_quantity(std::string_view text, Dimension dimension, double& value, std::string& why);

/// Returns a text that parse_quantity() reads back to exactly `value`. The text has a readable unit and as
/// few digits as possible. `value` must be finite and not negative.
std::string quantity_text(double value, Dimension dimension);

}  // namespace nuice::core
