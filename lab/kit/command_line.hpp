// SPDX-License-Identifier: BSD-3-Clause
// What the command lines of the programs have in common, and what a program answers when it does not do its work.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "nuice/core/error.hpp"

namespace nuice::kit {

enum ExitCode : int { success = 0, failure = 1, bad_input = 2 };

/// app.add_option(), with the default in --help; a list is separated by commas.
template <typename Value>
CLI::Option* add(CLI::App& app, const std::string& name, Value& value, const std::string& text,
                 const CLI::Validator& check = {}) {
  CLI::Option* const option = app.add_option(name, value, text)->check(check);
  if constexpr (requires { value.empty(); }) {
    if constexpr (!std::is_same_v<Value, std::string>) option->delimiter(',');
    if (value.empty()) return option;
  }
  return option->capture_default_str();
}

/// --json.
void add_json(CLI::App& app, bool& json);

/// What is measured, and written besides the result.
struct OutputOptions {
  int reps = 30;
  bool json = false;
  std::string pattern;  ///< File for the communication matrix; empty for none.
};
/// Adds --reps, --pattern and --json.
void add_output(CLI::App& app, OutputOptions& options);

/// How nuice carries the exchanges, for programs that take one way.
struct CommonOptions : OutputOptions {
  std::string scheduler = "coloring";
  std::string executor;  ///< Empty: async, or what the scheduler "auto" chooses.
};
/// Adds --scheduler and --executor as well.
void add_common(CLI::App& app, CommonOptions& options);

/// N, or ROWSxCOLUMNS. Throws Error invalid_argument, which names --size, unless both are between 1 and `most`.
std::pair<std::int64_t, std::int64_t> parse_size(const std::string& text, std::int64_t most);

/// Throws Error with the names that are known, but for "auto".
void require_scheduler(const std::string& name);
void require_executor(const std::string& name);

/// An error in what a program does, not in what it was given, for which the exit code is another.
struct Failure {
  Error error;
};
/// Runs the step; an Error in it becomes a Failure.
void or_fail(const std::function<void()>& step);

/// For rank 0 to print.
struct Reply {
  int exit_code = success;
  std::string out;
  std::string err;
};
/// Runs the step: parsing, and whatever it may throw of CLI11's errors, Error (bad_input) and Failure. Nothing if it threw
/// none of these. With --json in argv an error is an object too, also where the command line cannot be parsed.
std::optional<Reply> reply_to(int argc, const char* const* argv, const CLI::App& app,
                              const std::function<void()>& step);

}  // namespace nuice::kit
