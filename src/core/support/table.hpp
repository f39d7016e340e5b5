// SPDX-License-Identifier: BSD-3-Clause
// A registry of things that users select by name: built-in rows, and rows that a program adds.
//
// Rows are never changed or removed. So references and spans stay valid, and threads may read while another
// thread adds a row. A row has a member `name`, whose text must live as long as the program.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/error.hpp"

namespace nuice::core {

/// Returns the row with that name; nullptr if there is none. Takes O(rows) time.
template <typename Rows>
auto row_named(const Rows& rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, [](const auto& row) { return row.name; });
  return found == std::ranges::end(rows) ? nullptr : &*found;
}

/// Returns the row with that name. If there is none, throws Error `invalid_argument` with the known names.
/// kind: what the rows are, for example "scheduler". more: other words that the caller accepts.
template <typename Rows>
const auto& require_row(const Rows& rows, std::string_view kind, std::string_view name,
                        std::string_view more = "") {
  if (const auto* const row = row_named(rows, name)) return *row;
  std::string known;
  for (const auto& row : rows) known += (known.empty() ? "" : ", ") + std::string(row.name);
  throw Error(ErrorCode::invalid_argument, "unknown " + std::string(kind) + " \"" + std::string(name) +
                                               "\"; known: " + known + std::string(more));
}

/// A name for a value of an enumeration.
template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};

template <typename Value, std::size_t count>
std::string_view name_of(const Named<Value> (&rows)[count], Value value) {
  return std::ranges::find(rows, value, &Named<Value>::value)->name;
}

template <typename Row>
class Table {
 public:
  static constexpr std::size_t capacity = 128;

  Table(std::string_view kind, std::span<const Row> built_in) : kind_(kind), size_(built_in.size()) {
    rows_.reserve(capacity);  // rows never move, so spans stay valid
    rows_.assign(built_in.begin(), built_in.end());
  }

  std::span<const Row> rows() const { return {rows_.data(), size_.load(std::memory_order_acquire)}; }
  const Row& find(std::string_view name) const { return require_row(rows(), kind_, name); }

  /// Adds a row. Throws Error `invalid_argument` if the name is empty or taken, and `limit` if the table is
  /// full.
  void add(const Row& row) {
    const std::scoped_lock lock(adding_);
    const std::size_t size = size_.load(std::memory_order_relaxed);
    if (row.name.empty())
      throw Error(ErrorCode::invalid_argument, "a " + std::string(kind_) + " needs a name");
    if (row_named(rows(), row.name) != nullptr)
      throw Error(ErrorCode::invalid_argument,
                  "there is a " + std::string(kind_) + " \"" + std::string(row.name) + "\" already");
    if (size == capacity)
      throw Error(ErrorCode::limit, "the table of " + std::string(kind_) + "s is full: it has " +
                                        std::to_string(capacity) + " rows");
    rows_.push_back(row);
    size_.store(size + 1, std::memory_order_release);
  }

 private:
  std::string_view kind_;
  std::vector<Row> rows_;
  std::atomic<std::size_t> size_;
  std::mutex adding_;
};

}  // namespace nuice::core
