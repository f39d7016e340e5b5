// SPDX-License-Identifier: BSD-3-Clause
#include "halo/wire.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace nuice::mpi {
namespace {

using Half = std::uint16_t;  // the upper half of a float: bfloat16

double load(const std::byte* at) {
  double value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Rounds ties to even: adds just below half of the last kept place, plus the last kept bit. A double is
/// first rounded to a float. If its value is next to a tie, this may turn it into a tie, so the error is at
/// most 2^-8 (1 + 2^-16).
Half to_half(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return static_cast<Half>(std::isnan(value) ? (bits >> 16) | 0x40U : rounded);  // a NaN stays a NaN
}

double from_half(Half half) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16));
}

template <typename Short, typename To>
void narrow_all(const Convert& values, To to) {
  for (std::size_t i = 0; i < values.count; ++i) {
    const Short value = to(load(values.from + i * sizeof(double)));
    std::memcpy(values.to + i * sizeof(Short), &value, sizeof(Short));
  }
}

template <typename Short, typename From>
void widen_all(const Convert& values, From from) {
  for (std::size_t i = 0; i < values.count; ++i) {
    Short value;
    std::memcpy(&value, values.from + i * sizeof(Short), sizeof(Short));
    const double wide = from(value);
    std::memcpy(values.to + i * sizeof(double), &wide, sizeof wide);
  }
}

template <typename Short, typename To>
void narrow_some(std::byte* to, const std::byte* from, std::span<const LocalIndex> entries,
                 std::size_t components, To rounded) {
  for (const LocalIndex entry : entries) {
    const std::byte* const at = from + static_cast<std::size_t>(entry) * components * sizeof(double);
    for (std::size_t c = 0; c < components; ++c, to += sizeof(Short)) {
      const Short value = rounded(load(at + c * sizeof(double)));
      std::memcpy(to, &value, sizeof(Short));
    }
  }
}

float to_float(double value) { return static_cast<float>(value); }

}  // namespace

std::size_t wire_bytes(Wire wire, std::int64_t entry_bytes) {
  const auto bytes = static_cast<std::size_t>(entry_bytes);
  return wire == Wire::as_is ? bytes : wire == Wire::float32 ? bytes / 2 : bytes / 4;
}

void narrow(const Convert& values) {
  if (values.wire == Wire::float32) return narrow_all<float>(values, to_float);
  narrow_all<Half>(values, to_half);
}

void widen(const Convert& values) {
  if (values.wire == Wire::float32)
    return widen_all<float>(values, [](float value) { return static_cast<double>(value); });
  widen_all<Half>(values, from_half);
}

void narrow_entries(Wire wire, std::byte* to, const std::byte* from, std::span<const LocalIndex> entries,
                    std::size_t components) {
  if (wire == Wire::float32) return narrow_some<float>(to, from, entries, components, to_float);
  narrow_some<Half>(to, from, entries, components, to_half);
}

double unit_roundoff(Wire wire) { return wire == Wire::as_is ? 0 : wire == Wire::float32 ? 0x1p-24 : 0x1p-8; }

}  // namespace nuice::mpi
