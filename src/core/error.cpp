// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/error.hpp"

namespace nuice {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::parse:
      return "parse";
    case ErrorCode::io:
      return "io";
    case ErrorCode::not_applicable:
      return "not_applicable";
    case ErrorCode::limit:
      return "limit";
    case ErrorCode::mismatch:
      return "mismatch";
    case ErrorCode::state:
      return "state";
    case ErrorCode::mpi:
      return "mpi";
    case ErrorCode::timeout:
      return "timeout";
  }
  return "unknown";
}

}  // namespace nuice
