// SPDX-License-Identifier: BSD-3-Clause
#include "kit/command_line.hpp"

#include "nuice/core/error.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::apps {
namespace {

/// Turns what nuice says of a wrong name into CLI11's complaint.
template <typename Find>
CLI::Validator known(Find find, const std::string& kind) {
  return CLI::Validator(
      [find](std::string& name) {
        try {
          (void)find(name);
          return std::string();
        } catch (const Error& error) {
          return std::string(error.what());
        }
      },
      kind);
}

}  // namespace

void add_common(CLI::App& app, CommonOptions& options) {
  app.add_option("--scheduler", options.scheduler,
                 "how nuice plans the exchange; `nuice list` explains them; auto chooses")
      ->check(known(
          [](const std::string& name) {
            if (name != "auto") (void)find_scheduler(name);
            return name;
          },
          "NAME"))
      ->capture_default_str();
  app.add_option("--executor", options.executor,
                 "how nuice carries it out: async (default), phased, barrier, credit")
      ->check(known(
          [](const std::string& name) {
            if (name != "auto") (void)find_executor(name);
            return name;
          },
          "NAME"));
  add_output(app, options);
}

void add_output(CLI::App& app, OutputOptions& options) {
  app.add_option("--reps", options.reps, "measurements of the exchange; 0 for none")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--pattern", options.pattern,
                 "write the communication matrix here, Matrix Market, value = bytes");
  app.add_flag("--json", options.json, "one JSON object on one line, nothing else on stdout");
}

}  // namespace nuice::apps
