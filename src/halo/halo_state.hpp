// SPDX-License-Identifier: BSD-3-Clause
// What a halo keeps, and what an exchange bound to it keeps. For halo.cpp, bind.cpp and halo_exchange.cpp.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "halo/movement.hpp"
#include "halo/pattern.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/halo.hpp"

namespace nuice::mpi {

/// One plan serves both directions: the other one is its reverse.
struct HaloPlan {
  Plan plan;
  bool to_owners;  // made for the scatter; else for the gather

  Exchange bind(const Movement& movement, bool scatter) {
    return scatter == to_owners ? plan.bind(movement.send, movement.receive)
                                : plan.bind_reverse(movement.send, movement.receive);
  }
};

struct Halo::State {
  std::shared_ptr<const Communicator> comm;
  PlanOptions options;
  std::shared_ptr<const Pattern> pattern;
  std::map<Bytes, HaloPlan> plans;  // by bytes per entry

  /// Collective. Throws Error mismatch where the ranks' bytes per entry differ.
  void require_same_size(Bytes entry_bytes) const;
  /// Collective. The plan for this size; made, for the gather, if need be.
  HaloPlan& plan(Bytes entry_bytes);
  /// Collective. Fields that were checked, and how their values move.
  template <typename Field, typename Move>
  std::unique_ptr<HaloExchange::State> bind(std::span<const Field> fields, bool scatter, Move&& move);
};

struct HaloExchange::State {
  std::shared_ptr<const Pattern> pattern;
  Movement movement;
  PlanInfo info;
  bool under_way = false;            // a second start() must not pack into buffers that are being sent
  std::optional<Exchange> exchange;  // last, as it must end before the buffers do
};

}  // namespace nuice::mpi
