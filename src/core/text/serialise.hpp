// SPDX-License-Identifier: BSD-3-Clause
// Values as bytes, for the other ranks of the same program: numbers as they lie in memory, texts and lists with their length
// before them. A struct says once which fields it has:
//
//   template <>
//   struct nuice::core::Fields<Place> {
//     static auto of(auto& place) {
//       auto& [name, rank] = place;  // so that a field that comes later is not forgotten: this does not compile then
//       return std::tie(name, rank);
//     }
//   };
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace nuice::core {

/// Fields<T>::of(value): references to all fields of a struct.
template <typename T>
struct Fields;

/// Arrays of these go in one piece.
template <typename T>
concept PlainBytes = std::is_trivially_copyable_v<T>;

class Writer {
 public:
  template <typename T>
  void operator()(const T& value) {
    if constexpr (PlainBytes<T>) {
      put(&value, sizeof value);
    } else {
      std::apply([this](const auto&... fields) { ((*this)(fields), ...); }, Fields<T>::of(value));
    }
  }
  void operator()(const std::string& text) { put_array(text.data(), text.size()); }
  template <typename T>
  void operator()(const std::vector<T>& values) {
    if constexpr (PlainBytes<T>) {
      put_array(values.data(), values.size());
    } else {
      (*this)(values.size());
      for (const T& value : values) (*this)(value);
    }
  }

  std::string bytes;

 private:
  void put(const void* from, std::size_t size) { bytes.append(static_cast<const char*>(from), size); }
  template <typename T>
  void put_array(const T* from, std::size_t count) {
    (*this)(count);
    if (count > 0) put(from, count * sizeof(T));
  }
};

/// Reads what a Writer has written, in the same order.
class Reader {
 public:
  /// The bytes must outlive it.
  explicit Reader(std::span<const char> bytes) : rest_(bytes) {}

  template <typename T>
  void operator()(T& value) {
    if constexpr (PlainBytes<T>) {
      take(&value, sizeof value);
    } else {
      std::apply([this](auto&... fields) { ((*this)(fields), ...); }, Fields<T>::of(value));
    }
  }
  void operator()(std::string& text) { take_array(text); }
  template <typename T>
  void operator()(std::vector<T>& values) {
    if constexpr (PlainBytes<T>) {
      take_array(values);
    } else {
      values.resize(take_size());
      for (T& value : values) (*this)(value);
    }
  }

 private:
  void take(void* to, std::size_t size) {
    std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  std::size_t take_size() {
    std::size_t size = 0;
    take(&size, sizeof size);
    return size;
  }
  void take_array(auto& array) {
    array.resize(take_size());
    if (!array.empty()) take(array.data(), array.size() * sizeof(array[0]));
  }

  std::span<const char> rest_;
};

/// All of these, back to back.
template <typename... Values>
std::string to_bytes(const Values&... values) {
  Writer writer;
  (writer(values), ...);
  return std::move(writer.bytes);
}

/// Requires what to_bytes() has made of values of these types.
template <typename... Values>
void from_bytes(std::span<const char> bytes, Values&... values) {
  [](Reader reader, Values&... all) { (reader(all), ...); }(Reader(bytes), values...);
}

}  // namespace nuice::core
