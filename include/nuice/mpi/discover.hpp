// SPDX-License-Identifier: BSD-3-Clause
// Finds the sources of a rank that knows only its destinations.
//
//   nuice::mpi::Discoverer discoverer(MPI_COMM_WORLD);
//   std::vector<nuice::Partner> sources = discoverer.sources(destinations);   // as often as you like
//
// A Plan finds its sources itself. A Discoverer is for programs that need no schedule, or whose ranks make
// a schedule together.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

/// Returns the names of the methods that find the sources. All methods give the same result.
/// n is the number of ranks, m the number of messages of all ranks, and d the number of messages of this
/// rank.
///
///   gather      Every rank gathers all rows: one allgather and one allgatherv. O(n + m) time and memory.
///   count       A reduce-scatter counts the incoming messages (one per message), which are then received
///               from any source. O(n + d).
///   consensus   Nonblocking consensus, NBX (Hoefler, Siebert, Lumsdaine 2010): sends are synchronous. When
///               all sends of a rank are received, the rank enters MPI_Ibarrier, and receives until this
///               barrier has completed. O(d) memory, O(d + log n) time.
///   am_count    Like count, but active messages carry the entries (Generate_Recv, 004 fig. 1). O(n + d).
///   am_quiesce  Like am_count without the sum: quiescence shows that all entries have arrived. O(d) memory,
///               and some reductions.
///
/// The methods am_count and am_quiesce need an endpoint for active messages, so only
/// drs::mpi::World::sources() accepts them. In a Discoverer, "auto" means count for up to 1024 ranks, and
/// consensus for more. In a World, "auto" means am_count.
std::vector<std::string_view> discovery_ways();

/// An object that finds sources any number of times on one communicator.
class Discoverer {
 public:
  /// Collective. Duplicates parent. Throws Error with code `invalid_argument`, `state` or `mpi`, as Plan
  /// does.
  explicit Discoverer(MPI_Comm parent);
  Discoverer(Discoverer&&) noexcept;
  Discoverer& operator=(Discoverer&&) noexcept;
  ~Discoverer();

  /// Collective. Returns the ranks that send to this rank and their bytes, by ascending rank. Messages of
  /// zero bytes are ignored. destinations: the ranks to which this rank sends, and the bytes for each, in any
  /// order; this rank itself and zero bytes are allowed. way: the name of a method, equal on all ranks.
  /// Throws Error, the same on all ranks: as Plan for wrong destinations; code `invalid_argument` for an
  /// unknown method, `not_applicable` for a method with active messages, `mismatch` if ranks name different
  /// methods.
  std::vector<Partner> sources(std::span<const Partner> destinations, std::string_view way = "auto");

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Collective. Finds the sources once: duplicates the communicator and frees the duplicate again.
std::vector<Partner> discover(MPI_Comm comm, std::span<const Partner> destinations,
                              std::string_view way = "auto");

}  // namespace nuice::mpi
