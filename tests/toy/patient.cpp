// SPDX-License-Identifier: BSD-3-Clause
// patient: no rank begins a phase before all have finished the one before.
#include "toy.hpp"

namespace nuice::toy {

const Executor patient{.name = "patient",
                       .summary = "waits for all ranks after every phase",
                       .source = "tests/toy",
                       .pace = Pace::barriers,
                       .needs = direct | one_port,
                       .on_mpi = false};

}  // namespace nuice::toy
