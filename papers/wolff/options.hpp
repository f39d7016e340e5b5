// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-wolff.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "irregular/options.hpp"
#include "kit/errors.hpp"
#include "wolff/engine.hpp"
#include "wolff/statistics.hpp"

namespace nuice::wolff {

struct Options : irregular::CommonOptions {
  std::int64_t size = 64;
  double beta = 0;  ///< Set to beta_c by add_options.
  std::optional<std::int64_t> grain;
  std::int64_t thermalise = 100;
  std::int64_t clusters = 30;
  std::int64_t samples = 2000;
  bool item_costs = true;
  std::string picture;
};

/// A method and a width.
struct Case {
  Way way;
  std::int64_t width;
};

inline constexpr std::int64_t default_grain = 256;

inline bool can_take(const std::string& scheme, irregular::Sync sync) {
  return sync != irregular::Sync::none || scheme.starts_with("AM-") || scheme.starts_with("ST-");
}

inline Way make_way(const Options& options, const std::string& scheme, irregular::Sync sync) {
  Way way{.word = scheme, .scheme = options.scheme, .delta = 1, .grain = 0};
  const bool levels = sync != irregular::Sync::none;
  way.scheme.name = scheme;
  way.scheme.sync = sync;
  // 002 s.6: delta = 0.1 N / 2.
  way.delta = options.delta.value_or(levels ? std::max<std::int64_t>(1, options.size / 20) : 0);
  way.grain = options.grain.value_or(levels ? 0 : default_grain);
  irregular::check(way.scheme, way.delta);
  return way;
}

inline void add_options(kit::App& app, Options& options) {
  options.beta = critical_beta();
  kit::add(app, "--size", options.size, "N: the lattice has N x N sites", kit::range(2, 32768));
  kit::add(app, "--beta", options.beta, "inverse temperature, coupling 1; default: the critical one",
           kit::range(0.0, 10.0))
      .hide_default();
  options.syncs = {"local", "global", "none"};
  irregular::add_options(app, options, "N / 20, with --sync none 0: no limit");
  kit::add(app, "--grain", options.grain,
           "sites in a cycle, newest first; 0: a cycle is a step of the wavefront. Default 0, with "
           "--sync none 256");
  kit::add(app, "--poll-every", options.scheme.poll_every,
           "number of messages after which it polls too; 0: between batches", kit::not_negative());
  kit::add(app, "--thermalise", options.thermalise,
           "clusters before anything is measured, or more: 10 N^2 sites", kit::not_negative());
  kit::add(app, "--clusters", options.clusters, "in a measurement of time; every scheme flips the same",
           kit::positive());
  kit::add(app, "--samples", options.samples, "of energy and magnetisation; 0: none", kit::not_negative());
  kit::add_flag(app, "--check,!--no-check", options.check,
                "whether to test 4 x 4 and 8 x 8 lattices against exact values too");
  kit::add_flag(app, "--item-costs,!--no-item-costs", options.item_costs,
                "whether to measure what an item costs, by 100,000 to each neighbour");
  kit::add(app, "--picture", options.picture, "write the last lattice and cluster here, for nuice apps plot");
}

/// Returns all combinations of schemes, kinds of synchronisation (if the scheme has a choice) and widths.
/// Throws Error invalid_argument.
inline std::vector<Case> interpret(Options& options, int num_ranks) {
  if (options.size < num_ranks)
    kit::refuse("--size {}: fewer columns than the {} ranks", options.size, num_ranks);
  options.add_missing();
  if (options.widths.empty())
    options.widths.push_back(std::max<std::int64_t>(1, options.size / (std::int64_t{2} * num_ranks)));
  for (const std::int64_t width : options.widths)
    if (width < 1) kit::refuse("--widths {}: a stripe has at least 1 column", width);
  std::vector<Case> cases;
  for (const std::string& name : options.schemes) {
    const irregular::SchemeRow& row = irregular::find_scheme(name);
    bool any = false;
    for (const std::string& word : options.syncs) {
      const irregular::Sync sync = row.active_messages ? irregular::find_sync(word) : irregular::Sync::local;
      if (!can_take(name, sync) || (!row.active_messages && any)) continue;
      any = true;
      const Way way = make_way(options, name, sync);
      for (const std::int64_t width : options.widths) cases.push_back({way, width});
    }
    if (!any) kit::refuse("scheme {} goes level by level: --sync local or global", name);
  }
  return cases;
}

}  // namespace nuice::wolff
