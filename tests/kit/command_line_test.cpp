// SPDX-License-Identifier: BSD-3-Clause
// What a program answers when it does not do its work: texts, objects, exit codes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kit/command_line.hpp"
#include "nuice/core/error.hpp"

namespace nuice::kit {
namespace {

struct Program {
  CommonOptions options;
  std::vector<int> widths = {1, 4};
  App app{"Does things.", "nuice-things"};

  Program() {
    add(app, "--widths", widths, "of stripes", range(1, 9));
    add_common(app, options);
  }
  std::optional<Reply> operator()(std::vector<const char*> argv, const std::function<void()>& body = [] {}) {
    argv.insert(argv.begin(), "nuice-things");
    const int argc = static_cast<int>(argv.size());
    return reply_to(argc, argv.data(), app, [&] {
      app.parse(argc, argv.data());
      body();
    });
  }
};

TEST(Reply, IsNothingWhereTheWorkWasDone) {
  Program program;
  EXPECT_FALSE(program({"--reps", "3", "--widths", "2,5", "--scheduler", "auto", "--json"}));
  EXPECT_EQ(program.options.reps, 3);
  EXPECT_EQ(program.widths, (std::vector<int>{2, 5}));
  EXPECT_TRUE(program.options.json);
}

TEST(Reply, HelpIsForStdoutAndShowsDefaults) {
  Program program;
  const auto reply = program({"--help"});
  EXPECT_EQ(reply->exit_code, success);
  EXPECT_EQ(reply->err, "");
  EXPECT_NE(reply->out.find("--pattern"), std::string::npos) << reply->out;
  EXPECT_EQ(program.app.default_of("--reps"), "30");
  EXPECT_EQ(program.app.default_of("--scheduler"), "coloring");
  EXPECT_EQ(program.app.default_of("--widths"), "[1,4]");
}

TEST(Reply, WrongWordsAreExitCode2) {
  for (const auto& [words, text] : std::vector<std::pair<std::vector<const char*>, std::string>>{
           {{"--no-such"}, "no-such"},
           {{"--reps", "-1"}, "--reps"},
           {{"--widths", "1,10"}, "--widths"},
           {{"--scheduler", "fastest"}, "unknown scheduler \"fastest\""},
           {{"--executor", "fast"}, "unknown executor \"fast\""}}) {
    const auto reply = Program()(words);
    EXPECT_EQ(reply->exit_code, bad_input);
    EXPECT_EQ(reply->out, "");
    EXPECT_NE(reply->err.find(text), std::string::npos) << reply->err;
  }
}

TEST(Reply, ErrorsAreObjectsTooWithJson) {
  const auto io = [] { throw Error(ErrorCode::io, "a.mtx: cannot be opened"); };
  const auto code = [](const std::optional<Reply>& reply) {
    return nlohmann::json::parse(reply->out)["error"]["code"].get<std::string>();
  };
  const auto plain = Program()({}, io);
  EXPECT_EQ(plain->exit_code, bad_input);
  EXPECT_EQ(plain->out, "");
  EXPECT_EQ(plain->err, "nuice-things: a.mtx: cannot be opened\n");
  EXPECT_EQ(code(Program()({"--json"}, io)), "io");
  EXPECT_EQ(code(Program()({"--json", "--no-such"})), "invalid_argument");
  const auto failed = Program()({"--json"}, [&] { or_fail(io); });
  EXPECT_EQ(failed->exit_code, failure);
  EXPECT_EQ(code(failed), "io");
}

TEST(Size, IsOneSideOrTwo) {
  EXPECT_EQ(parse_size("12", 100), std::pair(std::int64_t{12}, std::int64_t{12}));
  EXPECT_EQ(parse_size("12x100", 100), std::pair(std::int64_t{12}, std::int64_t{100}));
  for (const char* text : {"", "x", "12x", "x3", "0", "101", "3x-1", "3x4x5", "3.5", " 3"})
    EXPECT_THROW((void)parse_size(text, 100), Error) << text;
}

}  // namespace
}  // namespace nuice::kit
