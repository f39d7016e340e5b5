// SPDX-License-Identifier: BSD-3-Clause
// What the command lines of the programs have in common: which schemes, and how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "irregular/scheme.hpp"
#include "kit/command_line.hpp"

namespace nuice::irregular {

struct CommonOptions {
  std::vector<std::string> schemes;  ///< All where none is named, once add_missing() was called.
  std::vector<std::string> syncs;
  std::vector<std::int64_t> widths;
  SchemeOptions scheme;
  std::optional<std::int64_t> delta;
  std::uint64_t seed = 1;
  int reps = 3;
  bool check = true;
  bool json = false;

  void add_missing();
};

/// Adds --seed, --schemes, --widths, --sync, --delta, --transport, --second, --buffer-bytes, --reps and --json.
void add_options(kit::App& app, CommonOptions& options, const std::string& default_delta);

}  // namespace nuice::irregular
