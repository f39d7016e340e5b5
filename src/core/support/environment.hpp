// SPDX-License-Identifier: BSD-3-Clause
// Values of environment variables, read strictly: what is not a value is told, and not taken for 0. For code that must not fail, as it
// sits in a program of somebody else's.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace nuice::core {

class Environment {
 public:
  /// A finite number from `least` on; `otherwise` where the variable is not set or is empty, or holds no such number.
  double number(const char* name, double least, double otherwise);
  /// Likewise a whole number.
  std::int64_t whole(const char* name, std::int64_t least, std::int64_t most, std::int64_t otherwise);
  /// One of these words; the first of them where the variable is not set or is empty, or holds another word.
  std::string word(const char* name, std::initializer_list<std::string_view> known);

  /// What was wrong, one sentence each: NAME="VALUE" is no ...
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  void complain(const char* name, std::string_view text, const std::string& wanted,
                const std::string& otherwise);
  std::vector<std::string> complaints_;
};

}  // namespace nuice::core
