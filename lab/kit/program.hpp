// SPDX-License-Identifier: BSD-3-Clause
// A program on all ranks of MPI_COMM_WORLD:
//
//   int main(int argc, char** argv) {
//     kit::App app{"What it does.", "nuice-program"};
//     kit::add(app, "--reps", reps, "repetitions");
//     return kit::run(argc, argv, app, [&] { return work(reps); });
//   }
#pragma once

#include <functional>
#include <string>

#include "kit/command_line.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::kit {

/// What main() returns: starts MPI, parses the command line, runs body(), ends MPI. The exit code, the same on all ranks, is
/// that of body, 0 for --help, or that of reply_to(). An Error or Failure must be the same on all ranks; whatever else is
/// thrown, by OnlyHere for one, ends all ranks with 1, as the others may wait for this one. On rank 0 it is 1 too where stdout
/// could not be written. Ignores SIGPIPE.
int run(int argc, char** argv, App& app, const std::function<int()>& body, int threads = MPI_THREAD_SINGLE);

/// An Error that only this rank has.
struct OnlyHere {
  Error error;
};
/// Runs the step, whose errors need not be those of all ranks.
void or_abort(const std::function<void()>& step);

/// On rank 0 only, at once: to stdout, to stderr.
void print(const std::string& text);
void note(const std::string& text);

/// First line of MPI_Get_library_version().
std::string mpi_library();

mpi::PlanOptions plan_options(const CommonOptions& options);

/// On rank 0, if there is a file to write it to. Collective: throws Error io on all ranks.
void write_pattern(const OutputOptions& options, const CommMatrix& pattern, const App& app);

}  // namespace nuice::kit
