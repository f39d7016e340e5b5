// SPDX-License-Identifier: BSD-3-Clause
// The exception that NUICE throws for bad input and for a failing environment. A bug in NUICE fails an
// assertion. "Not applicable" is a return value.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace nuice {

enum class ErrorCode : int {
  invalid_argument = 1,  ///< An argument has a value that the call does not accept; the text names the value.
  parse = 2,             ///< A file does not follow its format; the text gives file and line.
  io = 3,                ///< A file cannot be opened, read or written.
  not_applicable = 4,    ///< The scheduler cannot handle this matrix; the text says why.
  limit = 5,             ///< A size or a sum of sizes cannot be represented or sent.
  mismatch = 6,          ///< Arguments do not match each other (ranks, plan and matrix).
  state = 7,             ///< A call is out of order, such as wait without start, or use after free.
  mpi = 8,               ///< MPI returned an error; the text contains the text of MPI.
  timeout = 9,           ///< There was no progress within the limit; the text names the ranks that are late.
  device = 10,           ///< A GPU driver returned an error; the text contains the driver's error name.
};

/// Returns the name of a code as in `--json` output, such as "invalid_argument".
std::string_view error_code_name(ErrorCode code);

/// Returns the line that programs with --json print instead of their result: {"error": {"code": "io",
/// "message": "a.mtx: No such file or directory"}}. Bytes that are not ASCII are escaped.
std::string error_json(ErrorCode code, std::string_view message);

class Error : public std::runtime_error {
 public:
  /// Makes an error. what() is one line: control characters, which may come from a file, are written as
  /// \\x0a.
  Error(ErrorCode code, const std::string& message);
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace nuice
