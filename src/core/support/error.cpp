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

std::string error_json(ErrorCode code, std::string_view message) {
  std::string text = R"({"error": {"code": ")" + std::string(error_code_name(code)) + R"(", "message": ")";
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte >= ' ' && byte < 0x7f) {
      text += c;
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      text += "\\u00";
      text += digits[byte / 16];
      text += digits[byte % 16];
    }
  }
  return text + R"("}})" + "\n";
}

}  // namespace nuice
