// SPDX-License-Identifier: BSD-3-Clause
// Lets a value that several ranks of a host need cross the network only once.
//
// * gather: one of the ranks that need the value, the carrier, receives it (halo `network`). The others get
//   the value from the carrier (halo `inside`).
// * scatter: contributions go to the carrier, which sums them (halo `inside`). The sum goes to the owner
//   (halo `network`).
//
// Both halos use the same communicator. If only one rank of the host needs an entry, or a rank of the host
// owns it, the entry is sent directly. Carriers are chosen so that all ranks of a host carry about the same
// number of entries.
//
// Cost: two more plans, for which the ranks of a host tell each other their ghosts that are owned on other
// hosts. Each exchange copies ghosts once more.
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

/// The number of entries that cross the network in an exchange, summed over all ranks.
struct Crossing {
  std::int64_t every_time = 0;
  std::int64_t once_per_host = 0;
  bool pays() const { return every_time > 0 && 10 * once_per_host <= 9 * every_time; }
};

class OncePerHost {
 public:
  /// Collective. Returns null if sharing would not pay, or if the options disable it.
  static std::unique_ptr<OncePerHost> of(const Communicator& comm, const Pattern& pattern,
                                         const PlanOptions& options, Bytes entry_bytes);

  /// The exchanges of both halos, one after the other.
  struct Bound;
  template <typename Field>
  std::unique_ptr<Bound> bind(std::span<const Field> fields);

  const Crossing& crossing() const { return crossing_; }

 private:
  /// The ghosts of this rank, by where they come from.
  struct Lists {
    std::vector<GlobalIndex> network;  // received from their owners
    /// The entries of `network` that this rank passes on to other ranks of the host.
    std::vector<GlobalIndex> carried;
    std::vector<GlobalIndex> inside;         // received from carriers, as carrier_index()
    std::vector<GlobalIndex> inside_ghosts;  // the same entries as global indices
  };
  OncePerHost(const Communicator& comm, const Pattern& pattern, const PlanOptions& options, Bytes entry_bytes,
              const Lists& lists, const Crossing& crossing);
  static Lists lists_of(const Communicator& comm, const Pattern& pattern, std::span<const Rank> host,
                        std::span<const std::vector<std::byte>> all);

  Crossing crossing_;
  std::optional<Halo> network_;
  std::optional<Halo> inside_;
  // Places among this rank's ghosts. carried_ has places among the ghosts of network_ instead.
  std::vector<std::size_t> of_network_;  // by ghost of network_
  std::vector<std::size_t> of_inside_;   // by ghost of inside_
  std::vector<std::size_t> carried_;     // by owned entry of inside_
};

/// A copy of whole entries.
struct EntryCopy {
  std::byte* to;
  const std::byte* from;
  std::size_t entry_bytes;
  const std::vector<std::size_t>* places;
  bool to_places;  // true: to[places[i]] = from[i]; false: to[i] = from[places[i]]
  void run() const;
};

/// Two halo exchanges, one after the other.
///
///   state      ends when                       action                      next state
///   idle       start() is called               before, starts the first    in_first
///   in_first   the first one is complete       between, starts the second  in_second
///   in_second  the second one is complete      after                       idle
struct OncePerHost::Bound {
  enum class State : std::uint8_t { idle, in_first, in_second };
  std::vector<std::vector<std::byte>> memory;  // ghosts of both halos, and the carried values
  std::vector<EntryCopy> before;               // copied before the first exchange
  std::vector<EntryCopy> between;
  std::vector<EntryCopy> after;
  std::optional<HaloExchange> first;
  std::optional<HaloExchange> second;
  State state = State::idle;

  /// Completes the exchange before it is destroyed, because other ranks may wait for messages that this rank
  /// still has to send.
  ~Bound();
  void start();
  bool test();
  void wait();
  /// Throws Error `state` while the exchange is active.
  void free();

 private:
  void begin_second();
  void end();
};

}  // namespace nuice::mpi
