// SPDX-License-Identifier: BSD-3-Clause
// What a halo keeps, and what an exchange bound to it keeps. For halo.cpp and halo_exchange.cpp.
#pragma once

#include <memory>
#include <optional>

#include "halo/movement.hpp"
#include "halo/pattern.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/halo.hpp"

namespace nuice::mpi {

struct Halo::State {
  std::shared_ptr<const Communicator> comm;
  std::shared_ptr<const Pattern> pattern;
  std::optional<Plan> plan;
  bool plan_is_of_scatter = true;  // else of the gather; the other direction is its reverse

  /// Collective. Throws Error mismatch where the ranks' bytes per entry differ.
  void require_same_size(Bytes entry_bytes) const;
  /// Collective.
  template <typename Field>
  std::unique_ptr<HaloExchange::State> bind(std::span<const Field> fields);
};

struct HaloExchange::State {
  std::shared_ptr<const Pattern> pattern;
  Movement movement;
  PlanInfo info;
  bool under_way = false;            // a second start() must not pack into buffers that are being sent
  std::optional<Exchange> exchange;  // last, as it must end before the buffers do
};

}  // namespace nuice::mpi
