// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-fft2d.
#pragma once

#include <string>
#include <vector>

#include "fft2d/array.hpp"
#include "kit/program.hpp"

namespace nuice::fft2d {

/// A way to carry the exchange: a word of --schedulers, or MPI's own.
struct Method {
  std::string name;
  bool planned;
  mpi::PlanOptions plan;
};

struct Options {
  kit::OutputOptions output;
  Shape shape{256, 256};
  std::string size = "256";
  std::vector<std::string> words = {"pex", "bex", "lex", "rex", "coloring:async"};
  std::vector<Method> methods;
  std::uint64_t seed = 0;
  bool check = true;
  std::string input;
  std::string result;
};

void add_options(kit::App& app, Options& options);

/// Fills shape and methods from the words. Throws Error invalid_argument.
void interpret(Options& options);

}  // namespace nuice::fft2d
