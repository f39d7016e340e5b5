// SPDX-License-Identifier: BSD-3-Clause
// The results as a table for people and as JSON lines for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nuice_bench/input.hpp"
#include "nuice_bench/measure.hpp"

namespace nuice::bench {

/// What all lines have in common.
struct Setting {
  const Options& options;
  const Input& input;  // rank 0's
  int num_ranks;
  std::string mpi_library;  // first line of MPI_Get_library_version()
};

/// The fastest of MPI's own methods, by median; nullptr if none was run.
const Result* best_peer(const std::vector<Result>& results);

/// After how many exchanges planning plus exchanging has cost less than with `best`; nothing if never.
std::optional<double> reuses_to_pay_off(const Result& result, const Result& best);

/// An aligned table with a heading and notes.
std::string table(const Setting& setting, const std::vector<Result>& results);

/// One object per method and line.
std::string json_lines(const Setting& setting, const std::vector<Result>& results);

}  // namespace nuice::bench
