// SPDX-License-Identifier: BSD-3-Clause
// Host names with ranges, as Slurm writes them: "n[0-3,7],login1,rack[0-1]n[00-15]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nuice::topo {

/// Appends the names for which `text` stands, in its order. If an item has several brackets, the last bracket
/// varies fastest. Numbers keep the width of the first number of their range. Blanks separate items like
/// commas, and several blanks count as one. Returns what is wrong with `text`, or an empty string. At most
/// 2^20 names.
std::string expand_host_list(std::string_view text, std::vector<std::string>& names);

}  // namespace nuice::topo
