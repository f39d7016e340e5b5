// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-fft2d.
#pragma once

#include <string>
#include <tuple>
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

inline constexpr std::int64_t max_length = 32768;  // so that all counts fit MPI's int

inline Method parse_method(const std::string& word) {
  const std::size_t colon = word.find(':');
  const std::string scheduler = word.substr(0, colon);
  const std::string usual = scheduler == "auto" ? "auto" : "phased";
  const std::string executor = colon == std::string::npos ? usual : word.substr(colon + 1);
  kit::require_scheduler(scheduler);
  kit::require_executor(executor);
  return {word, true, {.scheduler = scheduler, .executor = executor}};
}

inline void add_options(kit::App& app, Options& options) {
  kit::add(app, "--size", options.size, "N, or ROWSxCOLUMNS");
  kit::add(
      app, "--schedulers", options.words,
      "how nuice carries the exchange, separated by commas: SCHEDULER or SCHEDULER:EXECUTOR (async, phased, "
      "barrier, credit; phased where none is named), or auto, which chooses both. 001 table 5 has lex, pex, "
      "rex, bex");
  kit::add(app, "--seed", options.seed, "of the numbers that are transformed");
  kit::add(app, "--input", options.input,
           "take them from this file: complex128, row by row (numpy's tofile())");
  kit::add(app, "--output", options.result, "write the transform here, in the same form");
  kit::add_flag(app, "--check,!--no-check", options.check,
                "whether rank 0 transforms the whole array too and compares");
  kit::add_output(app, options.output);
}

/// Fills shape and methods from the words. Throws Error invalid_argument.
inline void interpret(Options& options) {
  std::tie(options.shape.rows, options.shape.columns) = kit::parse_size(options.size, max_length);
  for (const std::string& word : options.words) options.methods.push_back(parse_method(word));
  options.methods.push_back({"alltoallv", false, {}});
  options.methods.push_back({"isend", false, {}});
}

}  // namespace nuice::fft2d
