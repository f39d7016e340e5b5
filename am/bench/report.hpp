// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "bench/harness.hpp"

namespace nuice::am_bench {

/// The settings that all rows have in common.
struct Setting {
  int num_ranks = 0;
  int reps = 0;
  std::string mpi_library;
  std::string ucx;  ///< Version and UCX_TLS; empty without UCX.
};

/// Returns the rows of one group as a table.
std::string table(const std::vector<Row>& rows);
/// Returns one JSON object per row, on one line each.
std::string json_lines(const Setting& setting, const std::vector<Row>& rows);
std::string heading(const Setting& setting);

}  // namespace nuice::am_bench
