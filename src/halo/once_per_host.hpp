// SPDX-License-Identifier: BSD-3-Clause
// A value that several ranks of a host need crosses the network once.
//
//   gather:   one of them, its carrier, gets it (network); the others get it from the carrier (inside)
//   scatter:  contributions go to the carrier, which adds them up (inside); the sum goes to the owner (network)
//
// Both are halos on the same communicator. An entry needed by one rank of the host only, or owned on the host, goes from rank
// to rank as ever. Carriers are chosen so that all ranks of a host carry about equally many.
// Cost: ranks of a host tell each other which ghosts they have from elsewhere; two more plans. An exchange copies ghosts once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "halo/pattern.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/halo.hpp"

namespace nuice::mpi {

/// Entries that cross the network in an exchange, of all ranks together.
struct Crossing {
  std::int64_t every_time = 0;
  std::int64_t once_per_host = 0;
  bool pays() const { return every_time > 0 && 10 * once_per_host <= 9 * every_time; }
};

class OncePerHost {
 public:
  /// Collective. Nothing where it would not pay, or the options do not want it.
  static std::unique_ptr<OncePerHost> of(const Communicator& comm, const Pattern& pattern,
                                         const PlanOptions& options, Bytes entry_bytes);

  /// The exchange of both halos, one after the other.
  struct Bound;
  template <typename Field>
  std::unique_ptr<Bound> bind(std::span<const Field> fields);

  const Crossing& crossing() const { return crossing_; }

 private:
  /// Which ghosts this rank gets from where.
  struct Lists {
    std::vector<GlobalIndex> network;        // needed from their owners
    std::vector<GlobalIndex> carried;        // of these, those that others of the host get from here
    std::vector<GlobalIndex> inside;         // needed from carriers: carrier_index()
    std::vector<GlobalIndex> inside_ghosts;  // the same entries
  };
  OncePerHost(const Communicator& comm, const Pattern& pattern, const PlanOptions& options, Bytes entry_bytes,
              const Lists& lists, const Crossing& crossing);
  static Lists lists_of(const Communicator& comm, const Pattern& pattern, std::span<const Rank> host,
                        std::span<const std::vector<std::byte>> all);

  Crossing crossing_;
  std::optional<Halo> network_;
  std::optional<Halo> inside_;
  // Places among this rank's ghosts, and among those of network_.
  std::vector<std::size_t> of_network_;  // by ghost of network_
  std::vector<std::size_t> of_inside_;   // by ghost of inside_
  std::vector<std::size_t> carried_;     // by owned entry of inside_: a ghost of network_
};

/// Copies of whole entries.
struct EntryCopy {
  std::byte* to;
  const std::byte* from;
  std::size_t entry_bytes;
  const std::vector<std::size_t>* places;
  bool to_places;  // to[places[i]] = from[i], or to[i] = from[places[i]]
  void run() const;
};

/// Two halo exchanges, one after the other.
///
///   state      ends with                     does                        next state
///   idle       start()                       before, starts the first    in_first
///   in_first   the first one is complete     between, starts the second  in_second
///   in_second  the second one is complete    after                       idle
struct OncePerHost::Bound {
  enum class State : std::uint8_t { idle, in_first, in_second };
  std::vector<std::vector<std::byte>> memory;  // ghosts of both halos, and what is carried
  std::vector<EntryCopy> before;               // the first exchange
  std::vector<EntryCopy> between;
  std::vector<EntryCopy> after;
  std::optional<HaloExchange> first;
  std::optional<HaloExchange> second;
  State state = State::idle;

  ~Bound();  ///< Finishes it first: others may be waiting for what this rank still has to send.
  void start();
  bool test();
  void wait();
  /// Throws Error state while it is active.
  void free();

 private:
  void begin_second();
  void end();
};

}  // namespace nuice::mpi
