// SPDX-License-Identifier: BSD-3-Clause
// The arrays of a halo: values of owned entries, values of ghosts, and a fixed number of components per
// entry.
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

using GlobalIndex = std::int64_t;  ///< The index of an entry across all ranks.
/// The index of an entry on one rank: owned entries first, then the ghosts.
using LocalIndex = std::int32_t;

/// How the values of a field are sent. float32 and bfloat16 are for doubles: the values are rounded before
/// they are sent, and become doubles again on arrival. Contributions are added as doubles.
enum class Wire {
  as_is,  ///< Unchanged.
  /// Sent as float, in half the bytes. The relative error is at most 2^-24; values above 3.4e38 become
  /// infinite.
  float32,
  /// Sent as bfloat16, in a quarter of the bytes. The relative error is at most 2^-8; the range is that of
  /// float.
  bfloat16,
};
/// Returns the largest relative error of a wire; 0 for as_is.
double unit_roundoff(Wire wire);

/// An array of a gather, made by gather_field(): owned values are read, ghost values are written.
struct GatherField {
  const std::byte* owned;
  std::size_t owned_bytes;
  std::byte* ghosts;
  std::size_t ghost_bytes;
  std::int64_t entry_bytes;
  Wire wire = Wire::as_is;
};

/// A function that computes owned[entries[j]] = op(owned[entries[j]], incoming[j]) for ascending j, per
/// component.
using CombineEntries = void (*)(std::byte* owned, const std::byte* incoming,
                                std::span<const LocalIndex> entries, int components);

/// An array of a scatter, made by scatter_field(): ghost values are read and combined into owned values.
struct ScatterField {
  const std::byte* ghosts;
  std::size_t ghost_bytes;
  std::byte* owned;
  std::size_t owned_bytes;
  std::int64_t entry_bytes;
  int components;
  CombineEntries combine;
  Wire wire = Wire::as_is;
  /// Whether the order and grouping of the operations change the result only by rounding. If so,
  /// contributions of a host may be combined before they reach the owner.
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

/// Returns `wire` for doubles, and Wire::as_is for other values.
template <typename Value>
Wire wire_of(Wire wire) {
  return std::same_as<Value, double> ? wire : Wire::as_is;
}

/// Makes a GatherField. `wire` applies to doubles; other values are sent unchanged.
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
  // Uses memcpy, because the fields of a message follow each other without gaps, so values may be unaligned.
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

/// Whether an operation may be applied in any order: true for the operations of the standard library below. A
/// program's own operation is assumed to depend on the order.
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
