// SPDX-License-Identifier: BSD-3-Clause
// nuice-wolff: Wolff's cluster algorithm for the Ising model, in every message-passing scheme of 002.
//
//   mpiexec -n 2 nuice-wolff                                    64 x 64 at beta_c, tested against exact values
//   mpiexec -n 2 nuice-wolff --size 1024 --widths 1,4,16,64 --samples 0 --no-check --json
//
// Exit code, the same on all ranks: 0 right; 1 not; 2 bad command line.
#include "kit/program.hpp"
#include "wolff/options.hpp"
#include "wolff/program.hpp"

int main(int argc, char** argv) {
  nuice::wolff::Options options;
  nuice::kit::App app{
      "Grows Wolff clusters on a periodic Ising lattice that is dealt to the ranks in stripes of columns. "
      "Every scheme\n"
      "flips exactly the sites that the sequential program flips.",
      "nuice-wolff"};
  nuice::wolff::add_options(app, options);
  return nuice::kit::run(argc, argv, app, [&] {
    const nuice::wolff::Report report = nuice::wolff::run(options);
    nuice::kit::print(options.json ? to_json(report) : to_text(report));
    return report.right() ? nuice::kit::success : nuice::kit::failure;
  });
}
