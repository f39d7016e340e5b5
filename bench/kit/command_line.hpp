// SPDX-License-Identifier: BSD-3-Clause
// What the command lines of the programs have in common, and what a program answers when it does not do its work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nuice/core/error.hpp"

namespace CLI {  // command_line.cpp alone includes CLI11, which takes longer to compile than most programs
class App;
class Option;
class Validator;
}  // namespace CLI

namespace nuice::kit {

enum ExitCode : int { success = 0, failure = 1, bad_input = 2 };

/// A program's command line.
class App {
 public:
  App(const std::string& description, const std::string& name);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  std::string name() const;
  /// Throws what reply_to() knows.
  void parse(int argc, const char* const* argv);
  /// After parse(): whether it was given.
  bool has(const std::string& option) const;
  /// Throws what parse() throws where an option is missing.
  [[noreturn]] void miss(const std::string& options) const;
  /// As --help shows it.
  std::string default_of(const std::string& option) const;
  CLI::App& cli() const { return *cli_; }

 private:
  std::unique_ptr<CLI::App> cli_;
};

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option needs(Option other);
  Option excludes(Option other);
  /// Where the text tells the default.
  Option hide_default();

 private:
  CLI::Option* option_;
};

/// What a value must be; nothing: any of its type.
using Check = std::shared_ptr<const CLI::Validator>;
/// Of int, std::int64_t, std::uint64_t or double.
template <typename Number>
Check range(Number least, Number most);
Check one_of(const std::vector<std::string>& words);
Check positive();
Check not_negative();

/// An option, with its default in --help unless that is empty; a list is separated by commas. Its type is one of those in
/// command_line.cpp.
template <typename Value>
Option add(App& app, const std::string& names, Value& value, const std::string& text,
           const Check& check = {});
/// The default of one that can be denied ("--check,!--no-check") is in --help.
Option add_flag(App& app, const std::string& names, bool& value, const std::string& text);

/// --json.
void add_json(App& app, bool& json);

/// What is measured, and written in addition to the result.
struct OutputOptions {
  int reps = 30;
  bool json = false;
  std::string pattern;  ///< File for the communication matrix; empty for none.
};
/// Adds --reps, --pattern and --json.
void add_output(App& app, OutputOptions& options);

/// How nuice carries the exchanges, for programs that take one way.
struct CommonOptions : OutputOptions {
  std::string scheduler = "coloring";
  std::string executor;  ///< Empty: async, or what the scheduler "auto" chooses.
};
/// Adds --scheduler and --executor as well.
void add_common(App& app, CommonOptions& options);

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
std::optional<Reply> reply_to(int argc, const char* const* argv, const App& app,
                              const std::function<void()>& step);

}  // namespace nuice::kit
