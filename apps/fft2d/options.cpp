// SPDX-License-Identifier: BSD-3-Clause
#include "fft2d/options.hpp"

#include <charconv>

#include "nuice/core/error.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::fft2d {
namespace {

constexpr std::int64_t max_length = 32768;  // so that all counts fit MPI's int

std::int64_t parse_length(const std::string& text, const std::string& whole) {
  std::int64_t value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || stop != text.data() + text.size() || value < 1 || value > max_length)
    throw Error(
        ErrorCode::invalid_argument,
        "--size " + whole + ": expected N or ROWSxCOLUMNS, each between 1 and " + std::to_string(max_length));
  return value;
}

Method parse_method(const std::string& word) {
  const std::size_t colon = word.find(':');
  const std::string scheduler = word.substr(0, colon);
  const std::string usual = scheduler == "auto" ? "auto" : "phased";
  const std::string executor = colon == std::string::npos ? usual : word.substr(colon + 1);
  if (scheduler != "auto") (void)find_scheduler(scheduler);
  if (executor != "auto") (void)find_executor(executor);
  return {word, true, {.scheduler = scheduler, .executor = executor}};
}

}  // namespace

void add_options(CLI::App& app, Options& options) {
  app.add_option("--size", options.size, "N, or ROWSxCOLUMNS")->capture_default_str();
  app.add_option(
         "--schedulers", options.words,
         "how nuice carries the exchange, separated by commas: SCHEDULER or SCHEDULER:EXECUTOR "
         "(async, phased, "
         "barrier, credit; phased where none is named), or auto, which chooses both. 001 table 5 has lex, "
         "pex, rex, bex")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the numbers that are transformed")->capture_default_str();
  app.add_option("--input", options.input,
                 "take them from this file: complex128, row by row (numpy's tofile())");
  app.add_option("--output", options.result, "write the transform here, in the same form");
  app.add_flag("--check,!--no-check", options.check,
               "whether rank 0 transforms the whole array too and compares")
      ->capture_default_str();
  apps::add_output(app, options.output);
}

void interpret(Options& options) {
  const std::size_t x = options.size.find('x');
  options.shape.rows = parse_length(options.size.substr(0, x), options.size);
  options.shape.columns =
      x == std::string::npos ? options.shape.rows : parse_length(options.size.substr(x + 1), options.size);
  for (const std::string& word : options.words) options.methods.push_back(parse_method(word));
  options.methods.push_back({"alltoallv", false, {}});
  options.methods.push_back({"isend", false, {}});
}

}  // namespace nuice::fft2d
