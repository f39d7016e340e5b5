// SPDX-License-Identifier: BSD-3-Clause
// patient: sends all at once, but only of schedules without node contention.
#include "toy.hpp"

namespace nuice::toy {

const Executor patient{.name = "patient",
                       .summary = "all sends at once, of schedules without node contention",
                       .source = "tests/toy",
                       .pace = Pace::at_once,
                       .needs = direct | one_port,
                       .on_mpi = false};

}  // namespace nuice::toy
