// SPDX-License-Identifier: BSD-3-Clause
#include "driver/mutator.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace nuice::fuzz {
namespace {

/// Where numbers of these formats become too large, wrap or stop being exact.
constexpr std::array<std::string_view, 40> numbers{
    "0",
    "1",
    "2",
    "3",
    "7",
    "8",
    "15",
    "16",
    "64",
    "100",
    "1000",
    "65535",
    "65536",
    "-1",
    "-2",
    "+1",
    "16777216",
    "16777217",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993.0",
    "4611686018427387904",
    "4611686018427387905",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "0.5",
    "1e-400",
    "1e308",
    "1e309",
    "nan",
    "inf",
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string Mutator::next(const std::vector<std::string>& inputs, const std::vector<double>& took_s,
                          std::size_t most_bytes) {
  const std::size_t one = below(inputs.size());
  const std::size_t other = below(inputs.size());
  std::string text = inputs[took_s[one] <= took_s[other] ? one : other];
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(text, inputs);
  if (text.size() > most_bytes) text.resize(most_bytes);
  return text;
}

void Mutator::change(std::string& text, const std::vector<std::string>& inputs) {
  const std::size_t at = below(text.size() + 1);
  const std::size_t length = std::min(text.size() - at, below(below(2) == 0 ? 4 : 64));
  switch (below(9)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(random_.next());
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1U << below(8)));
      break;
    case 2:
      text.insert(at, 1, static_cast<char>(below(2) == 0 ? random_.next() : ' ' + below(95)));
      break;
    case 3:
      text.erase(at, length);
      break;
    case 4:
      text.insert(below(text.size() + 1), text.substr(at, length));
      break;
    case 5:
      take_from(text, inputs[below(inputs.size())]);
      break;
    case 6:
      change_line(text);
      break;
    default:
      change_number(text);
      break;
  }
}

/// Another number instead of one, or a little more or less.
void Mutator::change_number(std::string& text) {
  const std::size_t from = below(text.size());
  const auto begin = static_cast<std::size_t>(
      std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), is_digit) - text.begin());
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (below(3) == 0 && begin < end && end - begin < 10) {
    const long near = std::stol(text.substr(begin, end - begin)) + static_cast<long>(below(5)) - 2;
    text.replace(begin, end - begin, std::to_string(near));
  } else {
    text.replace(begin, end - begin, numbers[below(numbers.size())]);
  }
}

/// A line is left out, doubled, moved or cut.
void Mutator::change_line(std::string& text) {
  const std::size_t somewhere = text.find('\n', below(text.size() + 1));
  if (somewhere == std::string::npos) return;
  const std::size_t end = std::min(text.find('\n', somewhere + 1), text.size() - 1);
  const std::string line = text.substr(somewhere + 1, end - somewhere);
  switch (below(4)) {
    case 0:
      text.erase(somewhere + 1, line.size());
      break;
    case 1:
      text.insert(somewhere + 1, line);
      break;
    case 2: {
      text.erase(somewhere + 1, line.size());
      const std::size_t other = text.find('\n', below(text.size() + 1));
      text.insert(other == std::string::npos ? text.size() : other + 1, line);
      break;
    }
    default:
      text.erase(somewhere + 1 + below(line.size() + 1));
      break;
  }
}

void Mutator::take_from(std::string& text, const std::string& other) {
  const std::size_t begin = below(other.size() + 1);
  const std::string part = other.substr(begin, below(40));
  const std::size_t at = below(text.size() + 1);
  if (below(2) == 0) {
    text.insert(at, part);
  } else {
    text.replace(at, std::min(part.size(), text.size() - at), part);
  }
}

}  // namespace nuice::fuzz
