// SPDX-License-Identifier: BSD-3-Clause
// Schedules as 001 prints them: a column per step, a line per exchange.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "nuice/core/schedule.hpp"

namespace nuice::test {

/// "0 <-> 1" if both ranks send to each other in the step, else "0 -> 1" (where 001 also writes 1 <- 0).
inline std::vector<std::string> exchanges_of(const Schedule& schedule, PhaseId phase) {
  std::set<std::pair<Rank, Rank>> sends;
  for (const Transfer& transfer : schedule.transfers(phase)) sends.insert({transfer.src, transfer.dst});
  std::vector<std::string> texts;
  for (const auto& [src, dst] : sends) {
    const bool both = sends.contains({dst, src});
    if (both && dst < src) continue;
    texts.push_back(std::to_string(src) + (both ? " <-> " : " -> ") + std::to_string(dst));
  }
  return texts;
}

/// The given texts below "Step 1", "Step 2", ...
inline std::string step_table(std::vector<std::vector<std::string>> columns) {
  std::size_t height = 0;
  for (std::size_t step = 0; step < columns.size(); ++step) {
    columns[step].insert(columns[step].begin(), "Step " + std::to_string(step + 1));
    height = std::max(height, columns[step].size());
  }
  std::ostringstream out;
  for (std::size_t line = 0; line < height; ++line) {
    std::string text;
    for (const std::vector<std::string>& column : columns) {
      std::string cell = line < column.size() ? column[line] : "";
      cell.resize(9, ' ');
      text += cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  }
  return out.str();
}

inline std::string step_table(const Schedule& schedule) {
  std::vector<std::vector<std::string>> columns;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    columns.push_back(exchanges_of(schedule, phase));
  return step_table(std::move(columns));
}

/// Transfers of every step that leave their cluster of `cluster` consecutive ranks: they go through the root
/// of a fat tree whose root has these clusters below it.
inline std::vector<int> root_crossings(const Schedule& schedule, Rank cluster) {
  std::vector<int> crossings(schedule.num_phases(), 0);
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      if (transfer.src / cluster != transfer.dst / cluster) ++crossings[phase];
    }
  }
  return crossings;
}

}  // namespace nuice::test
