// SPDX-License-Identifier: BSD-3-Clause
// Arrays as a halo sees them: values of owned entries, values of ghost entries, a fixed number of components per entry.
//
//   owned[i * components + c]   component c of owned entry i      0 <= i < halo.num_owned()
//   ghosts[k * components + c]  component c of ghost entry k      0 <= k < halo.num_ghosts()
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ranges>
#include <span>
#include <type_traits>

namespace nuice::mpi {

using GlobalIndex = std::int64_t;  ///< Index of an entry across all ranks.
using LocalIndex = std::int32_t;   ///< Index of an entry on one rank: owned entries first, then the ghosts.

/// How the values of a field travel. The other wires than as_is are for doubles, which are rounded before
/// they are sent and become doubles again on arrival; contributions are added as doubles.
enum class Wire {
  as_is,     ///< Every bit arrives.
  float32,   ///< Half of the bytes; relative error at most 2^-24, and infinite above 3.4e38.
  bfloat16,  ///< A quarter; relative error at most 2^-8, the range of float32.
};
/// The relative error of a wire; 0 for as_is.
double unit_roundoff(Wire wire);

/// One array of a gather: owned values are read, ghost values are written. Made by gather_field().
struct GatherField {
  const std::byte* owned;
  std::size_t owned_bytes;
  std::byte* ghosts;
  std::size_t ghost_bytes;
  std::int64_t entry_bytes;
  Wire wire = Wire::as_is;
};

/// owned[entries[j]] = op(owned[entries[j]], incoming[j]) for ascending j, per component.
using CombineEntries = void (*)(std::byte* owned, const std::byte* incoming,
                                std::span<const LocalIndex> entries, int components);

/// One array of a scatter: ghost values are read and combined into owned values. Made by scatter_field().
struct ScatterField {
  const std::byte* ghosts;
  std::size_t ghost_bytes;
  std::byte* owned;
  std::size_t owned_bytes;
  std::int64_t entry_bytes;
  int components;
  CombineEntries combine;
  Wire wire = Wire::as_is;
  /// Whether order and grouping change the result by rounding only. Contributions of a host may then be
  /// combined before they reach the owner.
  bool any_order = false;
};

template <typename Range>
concept FieldRange = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                     std::is_trivially_copyable_v<std::ranges::range_value_t<Range>> &&
                     !std::same_as<std::ranges::range_value_t<Range>, GatherField> &&
                     !std::same_as<std::ranges::range_value_t<Range>, ScatterField>;

/// A function object without state, such as std::plus<> or a lambda that captures nothing.
template <typename Op, typename Value>
concept FieldOperation =
    std::is_empty_v<Op> && std::default_initializable<Op> && requires(Op op, Value a, Value b) {
      { op(a, b) } -> std::convertible_to<Value>;
    };

/// Wire::as_is where values are not doubles.
template <typename Value>
Wire wire_of(Wire wire) {
  return std::same_as<Value, double> ? wire : Wire::as_is;
}

/// wire applies to doubles; other values travel unchanged.
template <FieldRange Owned, FieldRange Ghosts>
  requires std::same_as<std::ranges::range_value_t<Owned>, std::ranges::range_value_t<Ghosts>>
GatherField gather_field(const Owned& owned, Ghosts&& ghosts, int components = 1, Wire wire = Wire::as_is) {
  using Value = std::ranges::range_value_t<Owned>;
  return {.owned = reinterpret_cast<const std::byte*>(std::ranges::data(owned)),
          .owned_bytes = std::ranges::size(owned) * sizeof(Value),
          .ghosts = reinterpret_cast<std::byte*>(std::ranges::data(ghosts)),
          .ghost_bytes = std::ranges::size(ghosts) * sizeof(Value),
          .entry_bytes = std::int64_t{components} * static_cast<std::int64_t>(sizeof(Value)),
          .wire = wire_of<Value>(wire)};
}

template <typename Value, typename Op>
void combine_entries(std::byte* owned, const std::byte* incoming, std::span<const LocalIndex> entries,
                     int components) {
  // Field after field lies in the incoming message, so its values need not be aligned: hence memcpy.
  const auto width = static_cast<std::size_t>(components);
  for (const LocalIndex entry : entries) {
    std::byte* const at = owned + static_cast<std::size_t>(entry) * width * sizeof(Value);
    for (std::size_t c = 0; c < width; ++c, incoming += sizeof(Value)) {
      Value mine;
      Value theirs;
      std::memcpy(&mine, at + c * sizeof(Value), sizeof(Value));
      std::memcpy(&theirs, incoming, sizeof(Value));
      mine = static_cast<Value>(Op{}(mine, theirs));
      std::memcpy(at + c * sizeof(Value), &mine, sizeof(Value));
    }
  }
}

/// True for operations of the standard library. A program's own operation is assumed to need its order.
template <typename Op>
inline constexpr bool works_in_any_order = false;
template <typename T>
inline constexpr bool works_in_any_order<std::plus<T>> = true;
template <typename T>
inline constexpr bool works_in_any_order<std::multiplies<T>> = true;
template <typename T>
inline constexpr bool works_in_any_order<std::bit_and<T>> = true;
template <typename T>
inline constexpr bool works_in_any_order<std::bit_or<T>> = true;
template <typename T>
inline constexpr bool works_in_any_order<std::bit_xor<T>> = true;

template <FieldRange Ghosts, FieldRange Owned, typename Op = std::plus<>>
  requires std::same_as<std::ranges::range_value_t<Owned>, std::ranges::range_value_t<Ghosts>> &&
           FieldOperation<Op, std::ranges::range_value_t<Owned>>
ScatterField scatter_field(const Ghosts& ghosts, Owned&& owned, int components = 1, Op /*op*/ = {},
                           Wire wire = Wire::as_is) {
  using Value = std::ranges::range_value_t<Owned>;
  return {.ghosts = reinterpret_cast<const std::byte*>(std::ranges::data(ghosts)),
          .ghost_bytes = std::ranges::size(ghosts) * sizeof(Value),
          .owned = reinterpret_cast<std::byte*>(std::ranges::data(owned)),
          .owned_bytes = std::ranges::size(owned) * sizeof(Value),
          .entry_bytes = std::int64_t{components} * static_cast<std::int64_t>(sizeof(Value)),
          .components = components,
          .combine = &combine_entries<Value, Op>,
          .wire = wire_of<Value>(wire),
          .any_order = works_in_any_order<Op>};
}

}  // namespace nuice::mpi
