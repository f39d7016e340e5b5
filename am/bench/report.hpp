// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "bench/harness.hpp"

namespace nuice::am_bench {

/// What was the same for all rows.
struct Setting {
  int num_ranks = 0;
  int reps = 0;
  std::string mpi_library;
  std::string ucx;  ///< Version and UCX_TLS; empty without UCX.
};

/// The rows of one group as a table.
std::string table(const std::vector<Row>& rows);
/// One JSON object per row and line.
std::string json_lines(const Setting& setting, const std::vector<Row>& rows);
std::string heading(const Setting& setting);

}  // namespace nuice::am_bench
