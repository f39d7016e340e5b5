// SPDX-License-Identifier: BSD-3-Clause
// The registry of executors. A new executor needs an entry here; for MPI also a file and an entry in
// src/exchange/exec.
#include <array>

#include "core/support/table.hpp"
#include "nuice/core/executor.hpp"

namespace nuice {
namespace {

constexpr std::array built_in{
    Executor{.name = "async",
             .summary = "all sends at once, in the order of the schedule",
             .source = "000 s.3.1, fig. 4; 003 fig. 2",
             .pace = Pace::at_once,
             .needs = direct,
             .on_mpi = true},
    Executor{.name = "phased",
             .summary = "loosely synchronous: the next phase when this rank's own send and receive are done",
             .source = "000 s.2.1, 003 s.5",
             .pace = Pace::phases,
             .needs = 0,
             .on_mpi = true},
    Executor{.name = "pairwise",
             .summary = "synchronous: ranks that exchange meet, and the lower one receives first",
             .source = "001 s.3.2, fig. 2",
             .pace = Pace::pairs,
             .needs = 0,
             .on_mpi = true},
    Executor{.name = "depend",
             .summary = "a transfer starts when the previous ones on its ports and links are nearly complete",
             .source = "docs/adr/0020",
             .pace = Pace::notices,
             .needs = direct,
             .on_mpi = true},
    Executor{.name = "handshake",
             .summary = "no schedule: a rank asks the receiver before every message (drs_n)",
             .source = "004 fig. 5",
             .pace = Pace::inquiries,
             .needs = 0,
             .on_mpi = false,
             .without_scheduler = "drs_n"},
};

core::Table<Executor>& table() {
  static core::Table<Executor> rows("executor", built_in);
  return rows;
}

}  // namespace

std::span<const Executor> executors() { return table().rows(); }

const Executor& find_executor(std::string_view name) { return table().find(name); }

void add_executor(const Executor& row) { table().add(row); }

}  // namespace nuice
