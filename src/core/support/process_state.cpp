// SPDX-License-Identifier: BSD-3-Clause
#include "core/support/process_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <string>

namespace nuice::core {
namespace {

/// Reads /proc/PID/stat by read(2). A stream would throw if the process ended between open and read (ESRCH).
std::string line_of(std::int64_t number) {
  const int file = open(("/proc/" + std::to_string(number) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  constexpr std::size_t more_than_a_line = 4096;
  std::array<char, more_than_a_line> text{};
  const ssize_t length = read(file, text.data(), text.size());
  close(file);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

std::optional<ProcessState> process_state(std::int64_t number) {
  const std::string line = line_of(number);
  const std::size_t name_end = line.rfind(')');  // the name in parentheses may contain any character
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(name_end + 1));
  ProcessState state{};
  rest >> state.letter >> state.parent;
  std::string skipped;
  constexpr int fields_between = 17;  // fields 5 to 21
  for (int i = 0; i < fields_between; ++i) rest >> skipped;
  return rest >> state.begun ? std::optional(state) : std::nullopt;
}

}  // namespace nuice::core
