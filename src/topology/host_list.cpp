// SPDX-License-Identifier: BSD-3-Clause
#include "topology/host_list.hpp"

#include <algorithm>

#include "core/text/file_io.hpp"
#include "topology/spec.hpp"

namespace nuice::topo {
namespace {

constexpr std::size_t most_names = std::size_t{1} << 20;
constexpr std::size_t most_digits = 15;
constexpr std::string_view separators = ", \t\r\n";

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// Appends the numbers of "0-3" or "7" as text.
std::string expand_range(std::string_view range, std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  if (!core::parse_number(first, low) || !core::parse_number(last, high) || high < low) {
    return quoted(range) + " is not a range of numbers";
  }
  if (high - low >= most_names || std::max(first.size(), last.size()) > most_digits) {
    return quoted(range) + " is too long";
  }
  for (std::uint64_t number = low; number <= high; ++number) {
    std::string digits = std::to_string(number);
    digits.insert(0, first.size() - std::min(first.size(), digits.size()), '0');
    numbers.push_back(std::move(digits));
  }
  return {};
}

/// Expands one item of the list, in which text and brackets alternate.
std::string expand_item(std::string_view item, std::vector<std::string>& names) {
  std::vector<std::string> made{""};
  while (!item.empty()) {
    const std::size_t open = std::min(item.find('['), item.size());
    for (std::string& name : made) name += item.substr(0, open);
    item.remove_prefix(open);
    if (item.empty()) break;
    const std::size_t close = item.find(']');
    if (close == std::string_view::npos) return quoted(item) + " has no \"]\"";
    std::vector<std::string> numbers;
    for (const std::string_view range : split_at(item.substr(1, close - 1), ',')) {
      if (std::string reason = expand_range(range, numbers); !reason.empty()) return reason;
    }
    item.remove_prefix(close + 1);
    if (made.size() * numbers.size() > most_names) return "too many names";
    std::vector<std::string> longer;
    for (const std::string& name : made) {
      for (const std::string& number : numbers) longer.push_back(name + number);
    }
    made = std::move(longer);
  }
  if (std::ranges::any_of(made,
                          [](const std::string& name) { return name.find(']') != std::string::npos; })) {
    return R"(a "]" without "[")";
  }
  names.insert(names.end(), made.begin(), made.end());
  return {};
}

}  // namespace

std::string expand_host_list(std::string_view text, std::vector<std::string>& names) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    const bool is_inside =
        i < text.size() && (depth > 0 || separators.find(text[i]) == std::string_view::npos);
    if (is_inside) continue;
    const std::string_view item = text.substr(begin, i - begin);
    if (std::string reason = item.empty() ? "" : expand_item(item, names); !reason.empty()) return reason;
    if (names.size() > most_names) return "too many names";
    begin = i + 1;
  }
  return {};
}

}  // namespace nuice::topo
