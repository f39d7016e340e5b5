// SPDX-License-Identifier: BSD-3-Clause
#include "kit/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include "nuice/core/error.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::kit {
namespace {

/// Turns what nuice says of a wrong name into CLI11's complaint.
CLI::Validator known(void (*require)(const std::string&)) {
  return CLI::Validator(
      [require](std::string& name) {
        try {
          require(name);
          return std::string();
        } catch (const Error& error) {
          return std::string(error.what());
        }
      },
      "NAME");
}

std::int64_t parse_side(std::string_view side, const std::string& text, std::int64_t most) {
  std::int64_t value = 0;
  const auto [stop, status] = std::from_chars(side.data(), side.data() + side.size(), value);
  if (status != std::errc() || stop != side.data() + side.size() || value < 1 || value > most)
    throw Error(
        ErrorCode::invalid_argument,
        "--size " + text + ": expected N or ROWSxCOLUMNS, each between 1 and " + std::to_string(most));
  return value;
}

}  // namespace

void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "JSON objects, each on one line, and nothing else on stdout");
}

void add_output(CLI::App& app, OutputOptions& options) {
  add(app, "--reps", options.reps, "measurements of the exchange; 0 for none", CLI::Range(0, 1'000'000));
  app.add_option("--pattern", options.pattern,
                 "write the communication matrix here, Matrix Market, value = bytes");
  add_json(app, options.json);
}

void add_common(CLI::App& app, CommonOptions& options) {
  add(app, "--scheduler", options.scheduler,
      "how nuice plans the exchange; `nuice list` explains them; auto chooses", known(require_scheduler));
  app.add_option("--executor", options.executor,
                 "how nuice carries it out: async (default), phased, barrier, credit")
      ->check(known(require_executor));
  add_output(app, options);
}

std::pair<std::int64_t, std::int64_t> parse_size(const std::string& text, std::int64_t most) {
  const std::string_view all = text;
  const std::size_t x = all.find('x');
  const std::int64_t rows = parse_side(all.substr(0, x), text, most);
  return {rows, x == std::string_view::npos ? rows : parse_side(all.substr(x + 1), text, most)};
}

void require_scheduler(const std::string& name) {
  if (name != "auto") (void)find_scheduler(name);
}

void require_executor(const std::string& name) {
  if (name != "auto") (void)find_executor(name);
}

void or_fail(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    throw Failure{error};
  }
}

std::optional<Reply> reply_to(int argc, const char* const* argv, const CLI::App& app,
                              const std::function<void()>& step) {
  const auto complain = [&](int exit_code, const std::string& text, ErrorCode code, std::string_view what) {
    const bool json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
    return Reply{exit_code, json ? error_json(code, what) : "", text};
  };
  const std::string name = app.get_name() + ": ";
  try {
    step();
    return std::nullopt;
  } catch (const CLI::ParseError& error) {  // --help too
    std::ostringstream out;
    std::ostringstream err;
    if (app.exit(error, out, err) == 0) return Reply{success, out.str(), err.str()};
    return complain(bad_input, err.str(), ErrorCode::invalid_argument, error.what());
  } catch (const Failure& failed) {
    return complain(failure, name + failed.error.what() + "\n", failed.error.code(), failed.error.what());
  } catch (const Error& error) {
    return complain(bad_input, name + error.what() + "\n", error.code(), error.what());
  }
}

}  // namespace nuice::kit
