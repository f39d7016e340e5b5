// SPDX-License-Identifier: BSD-3-Clause
// Binds exchanges with buffers on a device: to mirrors of the buffers (staging/mirror.hpp), or to the device
// memory itself.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exchange/staging/device_run.hpp"
#include "nuice/core/outcome.hpp"
#include "nuice/mpi/options.hpp"

namespace nuice::mpi {

/// Not collective. Return whether any of the memory lies on a device. They are called before the arguments
/// are checked.
bool any_on_device(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive);
bool any_on_device(const SendArray& send, const ReceiveArray& receive);
bool any_on_device(std::span<const SendField> send, std::span<const ReceiveField> receive);
bool any_on_device(std::span<const Outgoing> send, std::span<const Incoming> receive);

/// The checked messages of this rank.
struct DeviceSides {
  DeviceItems send;
  DeviceItems receive;
  device::Location send_at;
  device::Location receive_at;
  bool is_in_place = false;  // data to be sent is copied before received data takes its place
  // The partners of the items.
  std::vector<Partner> send_to;
  std::vector<Partner> receive_from;

  /// Finds where both sides lie. Throws Error `invalid_argument` if one side lies in several places, or the
  /// two sides on different devices.
  void locate(Rank rank);
  /// Whether one side of this rank's message to itself has elements with gaps in host memory, and the other
  /// has bytes on a device. MPI would have to access both.
  bool has_mixed_self(Rank rank) const;
  const device::Location& at() const { return send_at.is_on_device() ? send_at : receive_at; }
};

/// Describes memory that an exchange uses instead of the user's: mirrors, or memory on a device. All members
/// except `copies` are equal on all ranks.
struct Elsewhere {
  Copies* copies = nullptr;
  Bytes piece_bytes = 0;
  /// Whether memory of any rank is on a device, so that the processor must not touch it.
  bool is_on_device = false;
};

/// How device memory is handled. The decision is the same on all ranks.
struct DeviceDecision {
  bool tries_staged = false;
  bool tries_direct = false;
  std::string why;  ///< This rank's reason.
};
/// Collective. why_not_direct: why the plan does not allow direct exchanges; empty if it does.
DeviceDecision decide_on_devices(const Communicator& comm, const DeviceSides& sides, DeviceWay wanted,
                                 const std::string& why_not_direct);

/// Not collective. Returns the parts of a run for this table, without the inner exchange. near: this host's
/// ranks, ascending. Large messages to these ranks are filled before the inner exchange starts. Otherwise two
/// ranks would copy one after the other: inside a host, MPI's receiver copies a whole message, and cannot
/// fill its own message during this copy. On an H100, 16 MiB in both directions then took 1.5 to 1.8 times as
/// long.
DeviceParts device_parts(DeviceSides sides, const PhaseTable& table, std::span<const Rank> near,
                         bool is_direct, Bytes chunk_bytes, const std::string& why);

/// Returns the messages as bytes in the mirror. Messages without a mirror stay as they are.
Layout::ByRank mirrored(const Mirror& mirror, Layout::ByRank messages);

/// Fields, and the arrays and types that they refer to.
template <typename Field>
struct MirroredFields {
  std::vector<Field> fields;
  std::vector<std::vector<std::int64_t>> offsets;
  std::vector<Datatype> types;
};
template <typename Field>
MirroredFields<Field> mirrored_fields(const Mirror& mirror, std::span<const Field> fields);

}  // namespace nuice::mpi
