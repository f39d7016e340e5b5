// SPDX-License-Identifier: BSD-3-Clause
// What the programs share whose ranks stop or die.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "nuice/core/error.hpp"

namespace nuice::test {

/// The four parts of A/B/C/D.
inline std::vector<std::string> four_words(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) c == '/' ? (void)words.emplace_back() : words.back().push_back(c);
  if (words.size() != 4) throw Error(ErrorCode::parse, text);
  return words;
}

/// Stops this process; a child of it sends `signal` after `seconds`, as an operator would from outside. It
/// does nothing but what may be done in a child of a process with threads.
inline void stop_until(int signal, unsigned seconds) {
  const pid_t self = getpid();
  if (fork() != 0) {
    raise(SIGSTOP);
    return;
  }
  sleep(seconds);
  kill(self, signal);
  _exit(0);
}

/// Stops this process until the others are gone: not every launcher can end a process that is stopped.
inline void freeze() { stop_until(SIGKILL, 12); }

}  // namespace nuice::test
