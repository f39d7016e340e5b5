// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/staging/items.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/text/names.hpp"
#include "mpi/call.hpp"
#include "mpi/communicator.hpp"
#include "mpi/requests.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// A range of contiguous bytes.
struct ByteRange {
  std::int64_t at;
  std::int64_t bytes;
};

std::vector<ByteRange> stretches_of(const DeviceItem& item) {
  if (item.is_plain) return {{0, item.bytes()}};
  std::vector<ByteRange> stretches;
  for (const std::int64_t place : byte_places_of(item.type)) {
    if (!stretches.empty() && stretches.back().at + stretches.back().bytes == place)
      ++stretches.back().bytes;
    else
      stretches.push_back({place, 1});
  }
  return stretches;
}

struct Placed {
  const DeviceItem& item;
  std::vector<ByteRange> stretches;  // of an element
  std::int64_t elements;
  std::int64_t extent;
};

}  // namespace

DeviceItems items_of(std::span<const Layout::Place> messages) {
  DeviceItems items;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& [at, count, type] = messages[i].all;
    if (messages[i].bytes > 0)
      items.push_back({.field = 0,
                       .partner = i,
                       .at = at,
                       .count = count,
                       .is_plain = are_plain_bytes(type),
                       .size = size_of(type),
                       .type = type});
  }
  return items;
}

DeviceItems items_of(const FieldSide& side) {
  DeviceItems items;
  for (std::size_t f = 0; f < side.num_fields(); ++f) {
    const FieldSide::Field& field = side.field(f);
    const bool is_plain = are_plain_bytes(field.type);
    for (std::size_t i = 0; i < side.partners().size(); ++i)
      if (field.counts[i] * field.size > 0)
        items.push_back({.field = f,
                         .partner = i,
                         .at = field.base + field.offsets[i] * field.extent,
                         .count = field.counts[i],
                         .is_plain = is_plain,
                         .size = field.size,
                         .type = field.type,
                         .alignment = field.size});
  }
  return items;
}

device::Location location_of(const DeviceItems& items, const std::string& side, Rank rank) {
  device::Location all;
  if (!device::any_driver()) return all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const device::Location at = device::locate(items[i].at + true_begin_of(items[i].type));
    if (i == 0) all = at;
    if (at.driver != all.driver || at.device != all.device)
      throw Error(ErrorCode::invalid_argument, rank_name(rank) + ": the " + side + " buffers lie on " +
                                                   all.name() + " and on " + at.name() +
                                                   ": the buffers of one side must be in one place");
  }
  return all;
}

Bytes true_begin_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  must(MPI_Type_get_true_extent(type, &lower, &extent), "MPI_Type_get_true_extent");
  return lower;
}

/// Only MPI knows its types. To find where an element's bytes come from, this function lets MPI pack memory
/// in which every byte holds its own place. A byte holds 256 values, so the function packs once for each
/// digit of the places.
std::vector<std::int64_t> byte_places_of(MPI_Datatype type) {
  constexpr MPI_Aint most = MPI_Aint{1} << 30;  // MPI_Pack counts bytes as int
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  must(MPI_Type_get_true_extent(type, &lower, &extent), "MPI_Type_get_true_extent");
  const Bytes size = size_of(type);
  if (extent > most || size > most)
    throw Error(ErrorCode::limit,
                "an element of a datatype spans " + std::to_string(extent) +
                    " bytes of device memory, and at most 1 GiB is possible: use more, smaller elements");
  std::vector<unsigned char> places_say(static_cast<std::size_t>(extent));
  std::vector<unsigned char> packed(static_cast<std::size_t>(size));
  std::vector<std::int64_t> places(static_cast<std::size_t>(size), lower);
  for (int digit = 0; digit == 0 || extent >> (8 * digit) > 0; ++digit) {
    for (std::size_t i = 0; i < places_say.size(); ++i)
      places_say[i] = static_cast<unsigned char>(i >> (8 * digit));
    int position = 0;
    must(MPI_Pack(places_say.data() - lower, 1, type, packed.data(), static_cast<int>(size), &position,
                  any_comm()),
         "MPI_Pack");
    for (std::size_t i = 0; i < packed.size(); ++i)
      places[i] += static_cast<std::int64_t>(packed[i]) << (8 * digit);
  }
  return places;
}

Units units_of(std::span<const DeviceItem> items) {
  std::vector<Placed> all;
  std::uint64_t common = device::unit_sizes.back();
  const std::byte* low = nullptr;
  std::vector<ByteRange> of_type;
  MPI_Datatype known = MPI_DATATYPE_NULL;
  for (const DeviceItem& item : items) {
    if (item.is_plain || item.type != known) of_type = stretches_of(item);
    known = item.is_plain ? MPI_DATATYPE_NULL : item.type;
    const std::int64_t extent = item.is_plain ? item.bytes() : extent_of(item.type);
    all.push_back({item, of_type, item.is_plain ? 1 : item.count, extent});
    const Placed& placed = all.back();
    if (placed.elements > 1) common = std::gcd(common, static_cast<std::uint64_t>(std::abs(extent)));
    for (const auto& [at, bytes] : placed.stretches) {
      common = std::gcd(common, static_cast<std::uint64_t>(bytes));
      common = std::gcd(common, reinterpret_cast<std::uintptr_t>(item.at + at));
      const std::byte* const first = item.at + at + std::min<std::int64_t>(0, (placed.elements - 1) * extent);
      if (low == nullptr || first < low) low = first;
    }
  }
  Units units{.base = const_cast<std::byte*>(low), .size = static_cast<std::size_t>(common), .index = {}};
  const auto size = static_cast<std::ptrdiff_t>(units.size);
  for (const Placed& placed : all) {
    for (std::int64_t i = 0; i < placed.elements; ++i) {
      for (const auto& [at, bytes] : placed.stretches) {
        const std::ptrdiff_t first = (placed.item.at + i * placed.extent + at - low) / size;
        if (first + bytes / size > std::numeric_limits<device::Index>::max())
          throw Error(ErrorCode::limit, "the elements of a field in a device's memory lie too far apart");
        for (std::ptrdiff_t u = 0; u < bytes / size; ++u)
          units.index.push_back(static_cast<device::Index>(first + u));
      }
    }
  }
  return units;
}

}  // namespace nuice::mpi
