// SPDX-License-Identifier: BSD-3-Clause
// The common parts of the programs' command lines, and a program's reply if it does not do its work.
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
  /// Parses the command line. Throws errors that reply_to() handles.
  void parse(int argc, const char* const* argv);
  /// Returns whether the option was given. Call it after parse().
  bool has(const std::string& option) const;
  /// Throws parse()'s error for a missing option.
  [[noreturn]] void miss(const std::string& options) const;
  /// Returns the default value as --help shows it.
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
  /// Leaves the default out of --help, for options whose text states it.
  Option hide_default();

 private:
  CLI::Option* option_;
};

/// A condition on a value; null: any value of its type is valid.
using Check = std::shared_ptr<const CLI::Validator>;
/// Returns the condition that a value is in this range. Number: int, std::int64_t, std::uint64_t or double.
template <typename Number>
Check range(Number least, Number most);
Check one_of(const std::vector<std::string>& words);
Check positive();
Check not_negative();

/// Adds an option. --help shows its default unless that is empty. A list is separated by commas. The value's
/// type must be instantiated in command_line.cpp.
template <typename Value>
Option add(App& app, const std::string& names, Value& value, const std::string& text,
           const Check& check = {});
/// Adds a flag. --help shows its default if the flag can be negated ("--check,!--no-check").
Option add_flag(App& app, const std::string& names, bool& value, const std::string& text);

/// Adds --json.
void add_json(App& app, bool& json);

/// Options for measurements, and for output in addition to the result.
struct OutputOptions {
  int reps = 30;
  bool json = false;
  std::string pattern;  ///< File for the communication matrix; empty for none.
};
/// Adds --reps, --pattern and --json.
void add_output(App& app, OutputOptions& options);

/// Options for how NUICE carries out the exchanges, for programs that use one method.
struct CommonOptions : OutputOptions {
  std::string scheduler = "coloring";
  std::string executor;  ///< Empty: async, or the choice of the scheduler "auto".
};
/// Adds the options of add_output(), --scheduler and --executor.
void add_common(App& app, CommonOptions& options);

/// Parses N or ROWSxCOLUMNS. Throws Error invalid_argument, which names --size, unless both numbers are
/// between 1 and `most`.
std::pair<std::int64_t, std::int64_t> parse_size(const std::string& text, std::int64_t most);

/// Throws Error if the name is unknown. The error lists the known names except "auto".
void require_scheduler(const std::string& name);
void require_executor(const std::string& name);

/// An error in a program's work, not in its input. It has a different exit code.
struct Failure {
  Error error;
};
/// Runs the step, and turns an Error into a Failure.
void or_fail(const std::function<void()>& step);

/// The exit code, and the text that rank 0 prints.
struct Reply {
  int exit_code = success;
  std::string out;
  std::string err;
};
/// Runs the step. The step parses the command line and may throw CLI11's errors, Error (bad input) and
/// Failure. Returns nothing if the step throws none of these. If --json is in argv, an error is printed as an
/// object, even if the command line cannot be parsed.
std::optional<Reply> reply_to(int argc, const char* const* argv, const App& app,
                              const std::function<void()>& step);

}  // namespace nuice::kit
