// SPDX-License-Identifier: BSD-3-Clause
// What contests cost, simulated: contest_simulation [RUNS]. A line for each
// case; tests/support/contest_cases.hpp.
//   mpi    exchanges 1 to 20, over 20 by MPI's own way: mean over the runs, and the worst of 20
//   best   exchanges 1 to 200, over 200 by the best arm
//   wrong  share of runs whose arm after 200 (2,000) exchanges takes 1.05 times the best one's time, or more
//   found  exchange since which the last arm is used, median
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "support/contest_course.hpp"

int main(int argc, char** argv) {
  using namespace nuice;
  const unsigned runs = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 200;
  std::puts(
      "| case | first 20, over MPI's own | worst of 20 | first 200, over the best | wrong after 200 | after "
      "2,000 | found |");
  std::puts("|---|---|---|---|---|---|---|");
  for (const test::ContestCase& each : test::contest_cases) {
    test::Outcome sum = test::outcome(each, runs);
    std::printf("| %s | %.2f | %.2f | %.2f | %.0f %% | %.0f %% | %d |\n", each.name.c_str(),
                sum.first_over_mpi, sum.worst_over_mpi, sum.over_best, 100 * sum.wrong, 100 * sum.wrong_late,
                sum.found);
  }
}
