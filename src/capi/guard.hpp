// SPDX-License-Identifier: BSD-3-Clause
// Wraps every function of the C API: no exception leaves it, and the text of an error is kept for this
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "nuice/core/error.hpp"
#include "nuice/nuice.h"

namespace nuice::capi {

/// Keeps the text of the current exception, and returns its status. Call it inside a catch block.
int keep_current_error() noexcept;

/// Runs the step. Returns the status that the API function returns.
template <typename Step>
int guarded(Step&& step) noexcept {
  try {
    std::forward<Step>(step)();
    return NUICE_OK;
  } catch (...) {
    return keep_current_error();
  }
}

[[noreturn]] inline void refuse(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

/// Returns the object to which an argument points. Throws Error `invalid_argument` if it is NULL.
template <typename Object>
Object& at(Object* pointer, const char* name) {
  if (pointer == nullptr) refuse(std::string(name) + " is NULL");
  return *pointer;
}

/// Returns an array with `count` entries as a span. Throws Error `invalid_argument` if count is negative, or
/// if count is positive and values is NULL.
template <typename Value>
std::span<const Value> array(const Value* values, std::int64_t count, const char* name) {
  if (count < 0) refuse(std::string(name) + " cannot have " + std::to_string(count) + " entries");
  if (count > 0 && values == nullptr) refuse(std::string(name) + " is NULL");
  return {values, static_cast<std::size_t>(count)};
}

/// Copies get(element) of each element into the caller's array, if there is one.
template <typename Range, typename Value, typename Get>
void copy_out(const Range& range, Value* to, Get&& get) {
  if (to == nullptr) return;
  for (const auto& one : range) *to++ = static_cast<Value>(get(one));
}

/// A row of a table of properties: a name and the function that gets the property.
template <typename Get>
struct Property {
  std::string_view name;
  Get get;
};

/// Returns the function for a name. Throws Error `invalid_argument` with the known names.
template <typename Get, std::size_t n>
Get find_property(const std::array<Property<Get>, n>& table, const char* name) {
  std::string known;
  for (const auto& row : table) {
    if (row.name == &at(name, "name")) return row.get;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  refuse("there is no \"" + std::string(name) + "\"; known: " + known);
}

/// Deletes the object of a handle, and sets the handle to null.
template <typename Object>
int free_handle(Object** handle) noexcept {
  if (handle == nullptr) return NUICE_OK;
  return guarded([&] {
    delete *handle;
    *handle = nullptr;
  });
}

}  // namespace nuice::capi
