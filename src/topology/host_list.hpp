// SPDX-License-Identifier: BSD-3-Clause
// Names with ranges, as Slurm writes them: "n[0-3,7],login1,rack[0-1]n[00-15]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nuice::topo {

/// Appends the names that `text` stands for, in its order; of several brackets the last varies fastest, and numbers keep
/// the width of their range's first. Blanks separate as commas do, and several of them as one. Returns what is wrong with it, or
/// nothing if all is well. At most 2^20 names.
std::string expand_host_list(std::string_view text, std::vector<std::string>& names);

}  // namespace nuice::topo
