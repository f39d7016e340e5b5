// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string_view>

#include "kit/command_line.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::apps {
namespace {

constexpr int bad_input = 2;

void complain(const std::string& text) {
  if (mpi::world_rank() == 0) std::fputs(text.c_str(), stderr);
}

/// As the command line says, also where it cannot be parsed.
bool wants_json(int argc, const char* const* argv) {
  return std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
}

}  // namespace

void print(const std::string& text) {
  if (mpi::world_rank() == 0) std::fputs(text.c_str(), stdout);
}

int parse_and_run(int argc, const char* const* argv, CLI::App& app, const std::function<int()>& body) {
  try {
    app.parse(argc, argv);
    return body();
  } catch (const CLI::ParseError& error) {  // --help too
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    print(out.str());
    complain(err.str());
    if (code != 0 && wants_json(argc, argv)) print(error_json(ErrorCode::invalid_argument, error.what()));
    return code == 0 ? 0 : bad_input;
  } catch (const Error& error) {  // the same on all ranks
    complain(app.get_name() + ": " + error.what() + "\n");
    if (wants_json(argc, argv)) print(error_json(error.code(), error.what()));
    return bad_input;
  }
}

}  // namespace nuice::apps
