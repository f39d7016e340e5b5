// SPDX-License-Identifier: BSD-3-Clause
// What a halo keeps, and what an exchange bound to it keeps. For halo.cpp, bind.cpp and halo_exchange.cpp.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "exchange/mpi/communicator.hpp"
#include "halo/movement.hpp"
#include "halo/pattern.hpp"
#include "nuice/halo.hpp"

namespace nuice::mpi {

struct Halo::State {
  std::shared_ptr<const Communicator> comm;
  PlanOptions options;
  std::shared_ptr<const Pattern> pattern;
  std::map<Bytes, Plan> gathers;   // by bytes per entry
  std::map<Bytes, Plan> scatters;  // likewise: the transposed matrix

  /// Collective. Throws Error mismatch where the ranks' bytes per entry differ.
  void require_same_size(Bytes entry_bytes) const;
  /// Collective. The plan of one direction for this size, made if need be.
  Plan& plan(std::map<Bytes, Plan>& plans, const EntryLists& destinations, Bytes entry_bytes);
};

struct HaloExchange::State {
  std::shared_ptr<const Pattern> pattern;
  Movement movement;
  PlanInfo info;
  bool under_way = false;            // a second start() must not pack into buffers that are being sent
  std::optional<Exchange> exchange;  // last, as it must end before the buffers do
};

}  // namespace nuice::mpi
