// SPDX-License-Identifier: BSD-3-Clause
// Binding where buffers lie on a device: the same as everywhere, but to mirrors of them (staging/mirror.hpp), or to the device's memory
// itself.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exchange/staging/device_run.hpp"
#include "nuice/core/outcome.hpp"
#include "nuice/mpi/options.hpp"

namespace nuice::mpi {

/// Not collective, before anything is known to be right: whether any of it lies on a device.
bool any_on_device(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive);
bool any_on_device(const SendArray& send, const ReceiveArray& receive);
bool any_on_device(std::span<const SendField> send, std::span<const ReceiveField> receive);
bool any_on_device(std::span<const Outgoing> send, std::span<const Incoming> receive);

/// What this rank has, checked.
struct DeviceSides {
  DeviceItems send;
  DeviceItems receive;
  device::Location send_at;
  device::Location receive_at;
  bool is_in_place = false;  // what is sent is copied before anything that has come takes its place
  // The ranks that the items go to and come from.
  std::vector<Partner> send_to;
  std::vector<Partner> receive_from;

  /// Throws Error invalid_argument where one side lies in several places, or the two on different devices.
  void locate(Rank rank);
  /// Whether this rank's message to itself has elements with gaps on the host and bytes on a device: MPI would have to read both.
  bool has_mixed_self(Rank rank) const;
  const device::Location& at() const { return send_at.is_on_device() ? send_at : receive_at; }
};

/// Of memory that is not the user's own, or on a device. Equal on all ranks but for copies.
struct Elsewhere {
  Copies* copies = nullptr;
  Bytes piece_bytes = 0;
  bool is_on_device = false;  ///< Of some rank: the processor must touch none of it.
};

/// What is done with a device's memory, on all ranks alike.
struct DeviceDecision {
  bool tries_staged = false;
  bool tries_direct = false;
  std::string why;  ///< This rank's.
};
/// Collective. why_not_direct: of the plan; empty where nothing is in the way.
DeviceDecision decide_on_devices(const Communicator& comm, const DeviceSides& sides, DeviceWay wanted,
                                 const std::string& why_not_direct);

/// Not collective. What a run for this table is made of, without the other exchange.
/// near: this host's ranks, ascending. Large messages to them are filled before the other exchange starts: MPI's
/// receiver copies a message of its host as a whole, and meanwhile could not start its own. So two ranks would copy
/// one after the other; on an H100 16 MiB both ways took 1.5 to 1.8 times as long.
DeviceParts device_parts(DeviceSides sides, const PhaseTable& table, std::span<const Rank> near,
                         bool is_direct, Bytes chunk_bytes, const std::string& why);

/// As bytes in the mirror where it has any of them; else as they are.
Layout::ByRank mirrored(const Mirror& mirror, Layout::ByRank messages);

/// Fields, and what they refer to.
template <typename Field>
struct MirroredFields {
  std::vector<Field> fields;
  std::vector<std::vector<std::int64_t>> offsets;
  std::vector<Datatype> types;
};
template <typename Field>
MirroredFields<Field> mirrored_fields(const Mirror& mirror, std::span<const Field> fields);

}  // namespace nuice::mpi
