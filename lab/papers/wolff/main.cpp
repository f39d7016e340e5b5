// SPDX-License-Identifier: BSD-3-Clause
// nuice-wolff: Wolff's cluster algorithm for the Ising model, in every message-passing scheme of 002.
//
//   mpiexec -n 2 nuice-wolff                                    64 x 64 at beta_c, tested against exact values
//   mpiexec -n 2 nuice-wolff --size 1024 --widths 1,4,16,64 --samples 0 --no-check --json
//
// Exit code, the same on all ranks: 0 right; 1 not; 2 bad command line.
#include <cstdio>
#include <exception>

#include "kit/command_line.hpp"
#include "wolff/options.hpp"
#include "wolff/program.hpp"

namespace nuice::wolff {
namespace {

int main_with_mpi(int argc, const char* const* argv) try {
  Options options;
  CLI::App app{
      "Grows Wolff clusters on a periodic Ising lattice that is dealt to the ranks in stripes of columns. "
      "Every "
      "scheme\n"
      "flips exactly the sites that the sequential program flips.",
      "nuice-wolff"};
  add_options(app, options);
  return apps::parse_and_run(argc, argv, app, [&] {
    const Report report = run(options);
    apps::print(options.json ? to_json(report) : to_text(report));
    return report.right() ? 0 : 1;
  });
} catch (const std::exception& error) {
  std::fprintf(stderr, "nuice-wolff: %s\n", error.what());
  return 1;
}

}  // namespace
}  // namespace nuice::wolff

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int exit_code = nuice::wolff::main_with_mpi(argc, argv);
  MPI_Finalize();
  return exit_code;
}
