// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/error.hpp"

namespace nuice {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

std::string one_line(const std::string& message) {
  std::string line;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != 0x7f) {
      line += c;
    } else {
      (line += "\\x") += hex_digits[byte / 16];
      line += hex_digits[byte % 16];
    }
  }
  return line;
}

}  // namespace

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
    case ErrorCode::device:
      return "device";
  }
  return "unknown";
}

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error(one_line(message)), code_(code) {}

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
      (text += "\\u00") += hex_digits[byte / 16];
      text += hex_digits[byte % 16];
    }
  }
  return text + R"("}})" + "\n";
}

}  // namespace nuice
