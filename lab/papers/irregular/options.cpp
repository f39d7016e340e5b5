// SPDX-License-Identifier: BSD-3-Clause
#include "irregular/options.hpp"

namespace nuice::irregular {

void CommonOptions::add_missing() {
  if (!schemes.empty()) return;
  for (const SchemeRow& row : irregular::schemes()) schemes.emplace_back(row.name);
}

void add_options(kit::App& app, CommonOptions& options, const std::string& default_delta) {
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
