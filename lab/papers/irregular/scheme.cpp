// SPDX-License-Identifier: BSD-3-Clause
#include "irregular/scheme.hpp"

#include <array>

#include "nuice/core/error.hpp"

namespace nuice::irregular {
namespace {

constexpr std::array<SchemeRow, 6> rows = {{
    {"SSR-C-NO", false, false},
    {"AMP-C-NO", true, false},
    {"ASR-C-O", false, true},
    {"AM-NC-O", true, false},
    {"ST-NC-O", true, false},
    {"AM-C-O", true, false},
}};

constexpr std::array<std::string_view, 3> syncs = {"local", "global", "none"};

}  // namespace

std::span<const SchemeRow> schemes() { return rows; }

const SchemeRow& find_scheme(std::string_view name) {
  std::string names;
  for (const SchemeRow& row : rows) {
    if (row.name == name) return row;
    names += " " + std::string(row.name);
  }
  throw Error(ErrorCode::invalid_argument, "there is no scheme " + std::string(name) + "; there are" + names);
}

Sync find_sync(std::string_view name) {
  for (std::size_t i = 0; i < syncs.size(); ++i)
    if (syncs[i] == name) return static_cast<Sync>(i);
  throw Error(ErrorCode::invalid_argument,
              "there is no synchronisation " + std::string(name) + "; there are local, global and none");
}

std::string_view name_of(Sync sync) { return syncs[static_cast<std::size_t>(sync)]; }

void check(const SchemeOptions& options, std::int64_t delta) {
  const SchemeRow& row = find_scheme(options.name);
  const bool can_do_without = row.active_messages && row.name != "AMP-C-NO";
  if (options.sync == Sync::none && !can_do_without)
    throw Error(ErrorCode::invalid_argument,
                "scheme " + options.name + " goes level by level: synchronisation none is not for it");
  if (delta < 0 || (delta == 0 && options.sync != Sync::none))
    throw Error(ErrorCode::invalid_argument,
                "delta " + std::to_string(delta) +
                    ": expected at least 1 level, or 0 (no limit) with synchronisation none");
}

}  // namespace nuice::irregular
