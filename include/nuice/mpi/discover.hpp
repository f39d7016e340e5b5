// SPDX-License-Identifier: BSD-3-Clause
// The sources of a rank that knows only its destinations, in memory of the order of its own messages.
//
//   nuice::mpi::Discoverer discoverer(MPI_COMM_WORLD);
//   std::vector<nuice::Partner> sources = discoverer.sources(destinations);   // as often as you like
//
// A Plan finds its sources by itself; this is for programs that need no schedule, or make one distributedly.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

/// The ways to learn one's sources, by name, in this order. All have the same result. n ranks, m messages of all ranks, d of this rank:
///
///   gather      every rank gathers all rows: one allgather and one allgatherv. O(n + m) time and memory
///   count       a reduce-scatter of ones says how many messages will come, which are then received from any source. O(n + d)
///   consensus   nonblocking consensus, NBX (Hoefler, Siebert, Lumsdaine 2010): synchronous sends; a rank whose sends are all
///               received enters MPI_Ibarrier and goes on receiving until that has completed. O(d) memory, O(d + log n) time
///   am_count    as count, but active messages bring the entries (Generate_Recv, 004 fig. 1). O(n + d)
///   am_quiesce  the same without the sum: quiescence says when all have come. O(d) memory, and some reductions
///
/// The last two need an endpoint for active messages: drs::mpi::World::sources takes all five. "auto" is, here, count up to 1024
/// ranks, whose vectors are small, and consensus beyond; for a World, am_count.
std::vector<std::string_view> discovery_ways();

/// The ranks of a communicator, which ask again and again.
class Discoverer {
 public:
  /// Collective over parent, which is duplicated. Throws Error invalid_argument, state or mpi as Plan does.
  explicit Discoverer(MPI_Comm parent);
  Discoverer(Discoverer&&) noexcept;
  Discoverer& operator=(Discoverer&&) noexcept;
  ~Discoverer();

  /// Collective. destinations: the ranks to which this rank sends, with their bytes, in any order; the rank itself and zero bytes
  /// are allowed. Returns the ranks that send to this rank, with their bytes, by ascending rank, zero bytes left out. `way` must be
  /// equal on all ranks. Throws Error, the same on all ranks: as Plan for wrong destinations, invalid_argument for an unknown
  /// way, not_applicable for one by active messages, mismatch for ways that differ.
  std::vector<Partner> sources(std::span<const Partner> destinations, std::string_view way = "auto");

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Collective. Once: duplicates the communicator and frees it again.
std::vector<Partner> discover(MPI_Comm comm, std::span<const Partner> destinations,
                              std::string_view way = "auto");

}  // namespace nuice::mpi
