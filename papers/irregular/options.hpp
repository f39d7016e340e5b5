// SPDX-License-Identifier: BSD-3-Clause
// The common options of the programs: which schemes run, and how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "irregular/scheme.hpp"
#include "kit/command_line.hpp"

namespace nuice::irregular {

struct CommonOptions {
  std::vector<std::string> schemes;  ///< If none is named, add_missing() fills in all.
  std::vector<std::string> syncs;
  std::vector<std::int64_t> widths;
  SchemeOptions scheme;
  std::optional<std::int64_t> delta;
  std::uint64_t seed = 1;
  int reps = 3;
  bool check = true;
  bool json = false;

  void add_missing() {
    if (!schemes.empty()) return;
    for (const SchemeRow& row : irregular::schemes()) schemes.emplace_back(row.name);
  }
};

/// Adds --seed, --schemes, --widths, --sync, --delta, --transport, --second, --buffer-bytes, --reps and
/// --json.
inline void add_options(kit::App& app, CommonOptions& options, const std::string& default_delta) {
  kit::add(app, "--seed", options.seed, "of all random numbers");
  kit::add(app, "--schemes", options.schemes, "separated by commas; all where none is named");
  kit::add(app, "--widths", options.widths, "of the stripes, separated by commas");
  kit::add(app, "--sync", options.syncs,
           "ends of cycles of the schemes that have a choice: local, global, none");
  kit::add(app, "--delta", options.delta,
           "levels between two looks whether all are done; default " + default_delta);
  kit::add(app, "--transport", options.scheme.transport, "of active messages: best, shm, mpi, ucx");
  kit::add(app, "--second", options.scheme.second, "transport of ST-NC-O");
  kit::add(app, "--buffer-bytes", options.scheme.buffer_bytes, "of AM-C-O, for each neighbour");
  kit::add(app, "--reps", options.reps, "measurements of each time", kit::range(0, 10'000));
  kit::add_json(app, options.json);
}

}  // namespace nuice::irregular
