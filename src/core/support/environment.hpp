// SPDX-License-Identifier: BSD-3-Clause
// Reads environment variables strictly: a wrong value is reported, and never taken for 0. Used by code that
// must not fail, because it runs inside unmodified programs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace nuice::core {

class Environment {
 public:
  /// Returns the variable's value if it is a finite number of at least `least`. Otherwise, and if the
  /// variable is not set or empty, returns `otherwise`.
  double number(const char* name, double least, double otherwise);
  /// Returns the variable's value if it is a whole number from `least` to `most`. Otherwise, and if the
  /// variable is not set or empty, returns `otherwise`.
  std::int64_t whole(const char* name, std::int64_t least, std::int64_t most, std::int64_t otherwise);
  /// Returns the variable's value if it is one of the words `known`. Otherwise, and if the variable is not
  /// set or empty, returns the first of these words.
  std::string word(const char* name, std::initializer_list<std::string_view> known);

  /// Returns one sentence about every wrong value, such as: NAME="VALUE" is no ...
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  void complain(const char* name, std::string_view text, const std::string& wanted,
                const std::string& otherwise);
  std::vector<std::string> complaints_;
};

}  // namespace nuice::core
