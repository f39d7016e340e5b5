// SPDX-License-Identifier: BSD-3-Clause
#include "kit/table.hpp"

#include <algorithm>

namespace nuice::kit {

std::string Table::separated(fmt::string_view cells) {
  std::string text(cells.begin(), cells.end());
  std::ranges::replace(text, '|', separator);
  return text;
}

void Table::add(std::string_view cells) {
  std::vector<std::string>& row = rows_.emplace_back();
  for (;;) {
    const std::size_t end = cells.find(separator);
    row.emplace_back(cells.substr(0, end));
    if (end == std::string_view::npos) return;
    cells.remove_prefix(end + 1);
  }
}

std::string Table::text(std::string_view indent) const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < std::min(columns, row.size()); ++c)
      widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent);
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::size_t width = c < columns ? widths[c] : 0;
      line += c < left_ || c >= columns ? fmt::format("{:<{}}  ", row[c], width)
                                        : fmt::format("{:>{}}  ", row[c], width);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace nuice::kit
