// SPDX-License-Identifier: BSD-3-Clause
// What movement.hpp does, for values in a device's memory:
//
//   gather:     a kernel for each field packs its messages on the device, which the exchange carries
//   otherwise:  (scatter, or fields that travel shorter) values that are sent or combined come to the host, where movement.hpp does what
//               it always does, so a result is that of the host bit for bit; then they go back
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/indexed_copy.hpp"
#include "halo/movement.hpp"

namespace nuice::mpi {

/// Whether any values of a field lie on a device. A driver that cannot be asked counts as one; of() throws its error.
template <typename Field>
bool any_on_device(std::span<const Field> fields);

class DeviceMovement {
 public:
  /// Null where movement.hpp does it all. Requires checked fields; appends one FieldBytes for each. The pattern must outlive this.
  /// Throws Error invalid_argument where the values lie on several devices, or those of one kind not in one place.
  template <typename Field>
  static std::unique_ptr<DeviceMovement> of(const Pattern& pattern, std::span<const Field> fields,
                                            std::vector<FieldBytes>& bytes, Rank rank);

  std::byte* messages() {
    return packs_there_ ? static_cast<std::byte*>(packed_.get()) : movement_.messages.data();
  }
  /// Where ghosts of field f are sent from or received to.
  template <typename Byte>
  Byte* travelling(std::size_t f, Byte* ghosts) {
    if (packs_there_) return ghosts;
    return mpi::travelling<Byte>(movement_, f, ghosts_.empty() ? ghosts : ghosts_[f].here);
  }
  /// After what `stream` was given so far. Returns a stream after which the messages are packed.
  device::Handle pack(device::Handle stream);
  /// Once all has come; after what `stream` was given so far. waits: the processor does, not the stream.
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
  device::DeviceMemory packed_;  // if so
  device::PinnedMemory memory_;  // else: the entries that others need, or contribute to, and the ghosts
  Pattern pattern_;              // of these entries
  Movement movement_;
  std::vector<OwnedValues> owned_;   // by field; empty where they lie on the host
  std::vector<GhostValues> ghosts_;  // likewise, or where the exchange takes them from the device
};

}  // namespace nuice::mpi
