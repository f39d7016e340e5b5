// SPDX-License-Identifier: BSD-3-Clause
// Values as ranks send them: as they lie in memory, because all ranks run the same program.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace nuice::mpi {

template <typename T>
std::span<const std::byte> bytes_of(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(values);
}

/// Returns the values in bytes that one rank has sent.
template <typename T>
std::vector<T> values_in(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace nuice::mpi
