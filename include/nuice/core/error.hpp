// SPDX-License-Identifier: BSD-3-Clause
// Bad input and a failing environment throw Error; a bug in nuice is an assertion; "not applicable" is a
// value.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace nuice {

enum class ErrorCode : int {
  invalid_argument = 1,  ///< A value that the call does not accept; the message names it.
  parse = 2,             ///< A file that does not follow its format; the message gives file and line.
  io = 3,                ///< A file that cannot be opened, read or written.
  not_applicable = 4,    ///< A scheduler that cannot handle this matrix; the message says why.
  limit = 5,             ///< Sizes or sums beyond what can be represented or sent.
  mismatch = 6,          ///< Arguments that do not match (ranks, plan and matrix).
  state = 7,             ///< A call out of order: wait without start, use after free.
  mpi = 8,               ///< MPI returned an error; the message holds MPI's own text.
  timeout = 9,           ///< Nothing moved for longer than the limit; the message names the ranks waited for.
  device = 10,           ///< The driver of a GPU returned an error; the message holds the driver's name for
                         ///< it.
};

/// Name of a code as it appears in `--json` output, e.g. "invalid_argument".
std::string_view error_code_name(ErrorCode code);

/// The line that programs with --json print instead of their result:
/// {"error": {"code": "io", "message": "a.mtx: No such file or directory"}}. Bytes that are not ASCII text are escaped.
std::string error_json(ErrorCode code, std::string_view message);

class Error : public std::runtime_error {
 public:
  /// Control characters, which a message may quote from a file, are written as \\x0a and the like: what() is one line.
  Error(ErrorCode code, const std::string& message);
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace nuice
