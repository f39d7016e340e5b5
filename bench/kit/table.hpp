// SPDX-License-Identifier: BSD-3-Clause
// Tables for people. Columns are as wide as their widest cell.
//
//   Table table("method|executor|median ms", 2);
//   table.row("{}|{}|{:.3f}", name, executor, 1e3 * seconds);
//   print(table.text());
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nuice::kit {

/// In headings and formats '|' separates cells; in values it is an ordinary character. A row may have more
/// cells than the heading, for remarks.
class Table {
 public:
  /// Makes a table whose first `left` columns are flush left, and the others flush right.
  explicit Table(std::string_view heading, std::size_t left = 1) : left_(left) { add(separated(heading)); }

  template <typename... Values>
  void row(fmt::format_string<Values...> cells, Values&&... values) {
    add(fmt::vformat(separated(cells), fmt::make_format_args(values...)));
  }
  /// Appends one cell to the last row.
  void append(const std::string& cell) { rows_.back().push_back(cell); }

  /// Returns one line per row, the heading first, each after the indent.
  std::string text(std::string_view indent = "") const {
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

 private:
  static constexpr char separator = '\x1f';

  static std::string separated(fmt::string_view cells) {
    std::string text(cells.begin(), cells.end());
    std::ranges::replace(text, '|', separator);
    return text;
  }

  void add(std::string_view cells) {
    std::vector<std::string>& row = rows_.emplace_back();
    for (;;) {
      const std::size_t end = cells.find(separator);
      row.emplace_back(cells.substr(0, end));
      if (end == std::string_view::npos) return;
      cells.remove_prefix(end + 1);
    }
  }

  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace nuice::kit
