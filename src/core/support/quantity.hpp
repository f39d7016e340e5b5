// SPDX-License-Identifier: BSD-3-Clause
// Numbers with units: "88 us", "4 MB/s", "0.2 us/B", "16 KiB".
#pragma once

#include <string>
#include <string_view>

namespace nuice::core {

enum class Dimension { time, size, time_per_byte };

/// A number, a blank or not, a unit. In seconds, bytes, seconds per byte (rates are turned round).
/// On failure `why` says what is wrong and what would be right.
bool parse_quantity(std::string_view text, Dimension dimension, double& value, std::string& why);

/// The text that parse_quantity() reads back to exactly `value`, in a unit that people would take and with as few
/// digits as that needs. `value` is finite and not negative.
std::string quantity_text(double value, Dimension dimension);

}  // namespace nuice::core
