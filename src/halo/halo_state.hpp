// SPDX-License-Identifier: BSD-3-Clause
// The state of a halo, and of an exchange bound to the halo. Used by halo.cpp and halo_exchange.cpp.
#pragma once

#include <memory>
#include <optional>

#include "halo/device_movement.hpp"
#include "halo/movement.hpp"
#include "halo/once_per_host.hpp"
#include "halo/pattern.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/halo.hpp"

namespace nuice::mpi {

struct Halo::State {
  std::shared_ptr<const Communicator> comm;
  std::shared_ptr<const Pattern> pattern;
  std::optional<Plan> plan;
  std::shared_ptr<OncePerHost> once_per_host;  // null if sharing does not pay
  /// Whether the plan is for the scatter. Otherwise it is for the gather. The other direction uses it
  /// backwards.
  bool plan_is_of_scatter = true;

  /// Collective. Throws Error `mismatch` if the bytes per entry differ between ranks.
  void require_same_size(Bytes entry_bytes) const;
  /// Collective. Whether the values of these fields cross the network once per host.
  template <typename Field>
  bool shares_with(std::span<const Field> fields) const;
  /// Collective. Makes an exchange of these fields.
  template <typename Field>
  std::unique_ptr<HaloExchange::State> bind(std::span<const Field> fields);
};

struct HaloExchange::State {
  std::shared_ptr<const Pattern> pattern;
  Movement movement;
  std::unique_ptr<DeviceMovement> on_device;  // used instead of `movement` if values lie on a device
  PlanInfo info;
  double wire_roundoff = 0;
  bool under_way = false;               // a second start() must not pack into buffers that are being sent
  std::shared_ptr<OncePerHost> shared;  // keeps alive what `both` needs
  std::unique_ptr<OncePerHost::Bound> both;  // used instead of movement and exchange
  std::optional<Exchange> exchange;          // last member, because it must end before the buffers are freed

  template <typename Act>
  void with_device(Act&& act);
  void pack_and_start(void* stream);
  void unpack(void* stream, bool waits);
};

}  // namespace nuice::mpi
