// SPDX-License-Identifier: BSD-3-Clause
#include "core/support/environment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/text/file_io.hpp"
#include "nuice/core/error.hpp"

namespace nuice::core {
namespace {

std::string_view text_of(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

std::string plain(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

}  // namespace

double Environment::number(const char* name, double least, double otherwise) {
  const std::string_view text = text_of(name);
  double value = otherwise;
  if (text.empty() || (parse_number(text, value) && std::isfinite(value) && value >= least)) return value;
  complain(name, text, "number from " + plain(least) + " on", plain(otherwise));
  return otherwise;
}

std::int64_t Environment::whole(const char* name, std::int64_t least, std::int64_t most,
                                std::int64_t otherwise) {
  const std::string_view text = text_of(name);
  std::int64_t value = otherwise;
  if (text.empty() || (parse_number(text, value) && value >= least && value <= most)) return value;
  complain(name, text, "whole number from " + std::to_string(least) + " to " + std::to_string(most),
           std::to_string(otherwise));
  return otherwise;
}

std::string Environment::word(const char* name, std::initializer_list<std::string_view> known) {
  const std::string_view text = text_of(name);
  if (text.empty()) return std::string(*known.begin());
  if (std::ranges::find(known, text) != known.end()) return std::string(text);
  std::string names;
  for (const std::string_view one : known) names += (names.empty() ? "" : ", ") + std::string(one);
  complain(name, text, "word of " + names, std::string(*known.begin()));
  return std::string(*known.begin());
}

void Environment::complain(const char* name, std::string_view text, const std::string& wanted,
                           const std::string& otherwise) {
  complaints_.emplace_back(Error(ErrorCode::invalid_argument, std::string(name) + "=\"" + std::string(text) +
                                                                  "\" is not a " + wanted + "; " + otherwise +
                                                                  " is taken")
                               .what());
}

}  // namespace nuice::core
