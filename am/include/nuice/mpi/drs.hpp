// SPDX-License-Identifier: BSD-3-Clause
// DRS_N and Generate_Recv between the ranks of a communicator.
//
//   drs::mpi::World world(MPI_COMM_WORLD);
//   std::vector<Partner> sources = world.sources(destinations);
//   drs::Exchange exchange = world.bind(destinations, sources, send, receive, {.lock = drs::Lock::rma});
//   for (...) { exchange.start(); exchange.wait(); }
//   exchange.free();
//   world.free();
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/am/drs.hpp"
#include "nuice/mpi/am.hpp"

namespace nuice::drs::mpi {

/// The ranks of a communicator, with an endpoint for DRS_N and Generate_Recv.
class World {
 public:
  /// Collective over parent, which is duplicated. endpoint_options: watchdog_s limits the wait for a rank
  /// that does not answer, here and in the world's exchanges. Throws Error like am::mpi::connect().
  explicit World(MPI_Comm parent, const am::mpi::Options& options = {},
                 const am::EndpointOptions& endpoint_options = {});
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;
  /// Calls free(), unless MPI is finalized.
  ~World();

  std::string transport_name() const;

  /// Collective. Like Exchanger::sources(), but by a method that nuice/mpi/discover.hpp lists. It must be
  /// equal on all ranks; "auto" is am_count. The watchdog covers only the methods with active messages.
  /// Throws Error `invalid_argument` also for an unknown method.
  std::vector<Partner> sources(std::span<const Partner> destinations, std::string_view way = "auto");

  /// Collective. Like Exchanger::bind(), but also allows Lock::rma, which makes a window of 8 bytes per rank.
  /// If the network has no atomic operations, the receiver must call MPI from time to time. Also throws Error
  /// `mpi`, and `not_applicable` for Lock::rma with WhenBusy::list.
  Exchange bind(std::span<const Partner> destinations, std::span<const Partner> sources,
                std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                const Options& options = {});

  /// Collective; waits for all ranks. Exchanges that are still bound keep what they need, and the last of
  /// them waits for all ranks instead. A second call does nothing.
  void free();

 private:
  struct State;
  State& state() const;
  std::shared_ptr<State> state_;
};

}  // namespace nuice::drs::mpi
