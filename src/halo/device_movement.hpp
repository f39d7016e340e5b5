// SPDX-License-Identifier: BSD-3-Clause
// Moves values like movement.hpp, for values in a device's memory:
//
// * A gather: one kernel per field packs the field's messages on the device. The exchange sends them from
//   there.
// * A scatter, or a gather of fields that are sent in fewer bytes: values to be sent or combined are copied
//   to the host. There movement.hpp handles them, so that the result equals that of the host bit for bit.
//   Then they are copied back.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/indexed_copy.hpp"
#include "halo/movement.hpp"

namespace nuice::mpi {

/// Returns whether any values of a field lie on a device. If a driver's query fails, returns true, so that
/// of() then throws the driver's error.
template <typename Field>
bool any_on_device(std::span<const Field> fields);

class DeviceMovement {
 public:
  /// Returns null if movement.hpp can do everything. Requires checked fields. Appends one FieldBytes for each
  /// field. The pattern must live as long as this object. Throws Error `invalid_argument` if values lie on
  /// several devices, or if owned (or ghost) values do not all lie in one place.
  template <typename Field>
  static std::unique_ptr<DeviceMovement> of(const Pattern& pattern, std::span<const Field> fields,
                                            std::vector<FieldBytes>& bytes, Rank rank);

  std::byte* messages() {
    return packs_there_ ? static_cast<std::byte*>(packed_.get()) : movement_.messages.data();
  }
  /// Returns the memory from which the ghosts of field f are sent, or into which they are received.
  template <typename Byte>
  Byte* travelling(std::size_t f, Byte* ghosts) {
    if (packs_there_) return ghosts;
    return mpi::travelling<Byte>(movement_, f, ghosts_.empty() ? ghosts : ghosts_[f].here);
  }
  /// Packs the messages after all work that is on `stream` so far. Returns a stream; the messages are packed
  /// when the work on it is done.
  device::Handle pack(device::Handle stream);
  /// Unpacks the received data after all work that is on `stream` so far. waits: the processor waits for the
  /// copies; otherwise `stream` waits.
  void unpack(device::Handle stream, bool waits);

 private:
  struct OwnedValues {
    device::IndexedCopy copy;
    std::byte* here;
  };
  struct GhostValues {
    std::byte* users;
    std::byte* here;
    std::size_t bytes;
  };
  DeviceMovement(const device::Location& at, bool is_gather)
      : at_(at), stream_(at), begun_(at), over_(at), is_gather_(is_gather) {}
  void pack_there(const Pattern& pattern, std::span<const GatherField> fields,
                  std::vector<FieldBytes>& bytes);
  template <typename Field>
  void move_here(const Pattern& pattern, std::span<const Field> fields, bool owned_are_there,
                 bool ghosts_are_there, std::vector<FieldBytes>& bytes);
  void begin_after(device::Handle stream);
  void fetch_owned();
  void wait_for_copies();

  device::Location at_;
  device::Stream stream_;
  device::Event begun_;
  device::Event over_;
  bool is_gather_;
  bool packs_there_ = false;
  device::DeviceMemory packed_;  // used if packs_there_
  /// If packs_there_ is false: the entries that other ranks need or contribute to, and the ghosts.
  device::PinnedMemory memory_;
  Pattern pattern_;  // of the entries in memory_
  Movement movement_;
  std::vector<OwnedValues> owned_;  // by field; empty if they lie on the host
  /// By field. Empty if the values lie on the host, or if the exchange reads them on the device.
  std::vector<GhostValues> ghosts_;
};

}  // namespace nuice::mpi
