// SPDX-License-Identifier: BSD-3-Clause
#include "kit/command_line.hpp"
#include "kit/errors.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <type_traits>

#include "nuice/core/error.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::kit {
namespace {

/// Turns NUICE's error for an unknown name into an error of CLI11.
Check known(void (*require)(const std::string&)) {
  return std::make_shared<CLI::Validator>(
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
    kit::refuse("--size {}: expected N or ROWSxCOLUMNS, each between 1 and {}", text, most);
  return value;
}

template <typename Value>
constexpr bool is_optional = requires(Value value) { value.has_value(); };

}  // namespace

App::App(const std::string& description, const std::string& name)
    : cli_(std::make_unique<CLI::App>(description, name)) {}
App::~App() = default;
std::string App::name() const { return cli_->get_name(); }
void App::parse(int argc, const char* const* argv) { cli_->parse(argc, argv); }
bool App::has(const std::string& option) const { return cli_->count(option) > 0; }
// NOLINTNEXTLINE(readability-convert-member-functions-to-static): said by an App, as all else is
void App::miss(const std::string& options) const { throw CLI::RequiredError(options); }
std::string App::default_of(const std::string& option) const {
  return cli_->get_option(option)->get_default_str();
}

Option Option::needs(Option other) { return Option(option_->needs(other.option_)); }
Option Option::excludes(Option other) { return Option(option_->excludes(other.option_)); }
Option Option::hide_default() { return Option(option_->default_str("")); }

template <typename Number>
Check range(Number least, Number most) {
  return std::make_shared<CLI::Range>(least, most);
}
template Check range(int, int);
template Check range(std::int64_t, std::int64_t);
template Check range(std::uint64_t, std::uint64_t);
template Check range(double, double);
Check one_of(const std::vector<std::string>& words) { return std::make_shared<CLI::IsMember>(words); }
Check positive() { return std::make_shared<CLI::Validator>(CLI::PositiveNumber); }
Check not_negative() { return std::make_shared<CLI::Validator>(CLI::NonNegativeNumber); }

template <typename Value>
Option add(App& app, const std::string& names, Value& value, const std::string& text, const Check& check) {
  CLI::Option* const option = app.cli().add_option(names, value, text);
  if (check) option->check(*check);
  if constexpr (is_optional<Value>) {
    return Option(option);
  } else {
    if constexpr (requires { value.empty(); }) {
      if constexpr (!std::is_same_v<Value, std::string>) option->delimiter(',');
      if (value.empty()) return Option(option);
    }
    return Option(option->capture_default_str());
  }
}
#define NUICE_ADD(...) \
  template Option add(App&, const std::string&, __VA_ARGS__&, const std::string&, const Check&)
NUICE_ADD(int);
NUICE_ADD(std::int64_t);
NUICE_ADD(std::uint64_t);
NUICE_ADD(double);
NUICE_ADD(std::string);
NUICE_ADD(std::vector<int>);
NUICE_ADD(std::vector<std::int64_t>);
NUICE_ADD(std::vector<std::string>);
NUICE_ADD(std::optional<std::int64_t>);
#undef NUICE_ADD

Option add_flag(App& app, const std::string& names, bool& value, const std::string& text) {
  CLI::Option* const flag = app.cli().add_flag(names, value, text);
  return Option(names.find('!') == std::string::npos ? flag : flag->capture_default_str());
}

void add_json(App& app, bool& json) {
  add_flag(app, "--json", json, "JSON objects, each on one line, and nothing else on stdout");
}

void add_output(App& app, OutputOptions& options) {
  add(app, "--reps", options.reps, "measurements of the exchange; 0 for none", range(0, 1'000'000));
  add(app, "--pattern", options.pattern, "write the communication matrix here, Matrix Market, value = bytes");
  add_json(app, options.json);
}

void add_common(App& app, CommonOptions& options) {
  add(app, "--scheduler", options.scheduler,
      "how nuice plans the exchange; `nuice list` explains them; auto chooses", known(require_scheduler));
  add(app, "--executor", options.executor, "how nuice carries it out: async (default), phased",
      known(require_executor));
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

std::optional<Reply> reply_to(int argc, const char* const* argv, const App& app,
                              const std::function<void()>& step) {
  const auto complain = [&](int exit_code, const std::string& text, ErrorCode code, std::string_view what) {
    const bool json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
    return Reply{exit_code, json ? error_json(code, what) : "", text};
  };
  const std::string name = app.name() + ": ";
  try {
    step();
    return std::nullopt;
  } catch (const CLI::ParseError& error) {  // --help too
    std::ostringstream out;
    std::ostringstream err;
    if (app.cli().exit(error, out, err) == 0) return Reply{success, out.str(), err.str()};
    return complain(bad_input, err.str(), ErrorCode::invalid_argument, error.what());
  } catch (const Failure& failed) {
    return complain(failure, name + failed.error.what() + "\n", failed.error.code(), failed.error.what());
  } catch (const Error& error) {
    return complain(bad_input, name + error.what() + "\n", error.code(), error.what());
  }
}

}  // namespace nuice::kit
