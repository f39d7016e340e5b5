// SPDX-License-Identifier: BSD-3-Clause
// Makes inputs from inputs: bytes, numbers, words and lines are changed,
// doubled, left out and taken from others.
#pragma once

#include <string>
#include <vector>

#include "nuice/core/random.hpp"

namespace nuice::fuzz {

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// One to a few changes of one of the inputs, at most `most_bytes` long. took_s: seconds of each,
  /// of two the quicker is taken, as those that reach the most (networks of thousands of hosts)
  /// would take all the time otherwise.
  std::string next(const std::vector<std::string>& inputs, const std::vector<double>& took_s,
                   std::size_t most_bytes);

 private:
  void change(std::string& text, const std::vector<std::string>& inputs);
  void change_number(std::string& text);
  void change_line(std::string& text);
  void take_from(std::string& text, const std::string& other);
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_.below(bound); }

  Random random_;
};

}  // namespace nuice::fuzz
