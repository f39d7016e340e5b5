// SPDX-License-Identifier: BSD-3-Clause
// What one side of an exchange has in a device's memory: for each field and partner some elements, and where their bytes lie.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/driver.hpp"
#include "device/kernels.hpp"
#include "exchange/bind/fields.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice::mpi {

/// Elements of one field for one partner, or from it.
struct DeviceItem {
  std::size_t field;
  std::size_t partner;  // in the user's order
  std::byte* at;        // of the first element
  std::int64_t count;
  bool is_plain;  // the elements are plain bytes, contiguous
  Bytes size;     // of an element as it travels
  MPI_Datatype type;
  Bytes alignment = 1;  // of their place in a mirror

  Bytes bytes() const { return count * size; }
};
using DeviceItems = std::vector<DeviceItem>;

// Not collective. Items of no bytes are left out.
DeviceItems items_of(std::span<const Layout::Place> messages);
DeviceItems items_of(const FieldSide& side);

/// Bytes from the address of an element to its first one.
Bytes true_begin_of(MPI_Datatype type);

/// Where all of them lie. Throws Error invalid_argument, which names the two places, where they do not lie in one; `side` is "send" or
/// "receive".
device::Location location_of(const DeviceItems& items, const std::string& side, Rank rank);

/// Where the bytes of an element lie behind its first one, in the order in which they travel. Throws Error limit for an element that
/// spans more than 1 GiB.
std::vector<std::int64_t> byte_places_of(MPI_Datatype type);

/// Items of one field as units by index.
struct Units {
  std::byte* base = nullptr;
  std::size_t size = 1;
  std::vector<device::Index> index;
};
/// Throws Error limit where an index has no room for the distances.
Units units_of(std::span<const DeviceItem> items);

}  // namespace nuice::mpi
