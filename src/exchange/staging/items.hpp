// SPDX-License-Identifier: BSD-3-Clause
// Describes the memory of one side of an exchange on a device: elements for each field and partner, and where
// their bytes lie.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/driver.hpp"
#include "device/kernels.hpp"
#include "exchange/bind/fields.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice::mpi {

/// The elements of one field that go to one partner, or come from it.
struct DeviceItem {
  std::size_t field;
  std::size_t partner;  // in the user's order
  std::byte* at;        // of the first element
  std::int64_t count;
  bool is_plain;  // the elements are plain bytes, contiguous
  Bytes size;     // packed size of an element
  MPI_Datatype type;
  Bytes alignment = 1;  // of the place in a mirror

  Bytes bytes() const { return count * size; }
};
using DeviceItems = std::vector<DeviceItem>;

// Not collective. Return the items that have bytes.
DeviceItems items_of(std::span<const Layout::Place> messages);
DeviceItems items_of(const FieldSide& side);

/// Returns the offset of an element's first byte from its address.
Bytes true_begin_of(MPI_Datatype type);

/// Returns where all items lie. If they do not lie in one place, throws Error `invalid_argument` with the two
/// places. `side` is "send" or "receive".
device::Location location_of(const DeviceItems& items, const std::string& side, Rank rank);

/// Returns the offsets of an element's bytes from its first byte, in the order of packing. Throws Error
/// `limit` for an element that spans more than 1 GiB.
std::vector<std::int64_t> byte_places_of(MPI_Datatype type);

/// Items of one field as indexed units.
struct Units {
  std::byte* base = nullptr;
  std::size_t size = 1;
  std::vector<device::Index> index;
};
/// Returns the items as units. Throws Error `limit` if the distances do not fit into an index.
Units units_of(std::span<const DeviceItem> items);

}  // namespace nuice::mpi
