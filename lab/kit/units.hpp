// SPDX-License-Identifier: BSD-3-Clause
// Numbers and their units for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nuice::kit {

/// Three digits: "1.52".
std::string number(double value);
/// With a unit that suits it: "1.52 us" for s, "3.1 GB/s" for s/B, "4096 B" for B; of another unit the number alone.
std::string quantity(double value, std::string_view unit);
/// That many times the value, with so many decimals; a dash for what is not known.
std::string decimals(std::optional<double> value, int digits, double times = 1);

}  // namespace nuice::kit
