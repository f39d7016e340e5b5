// SPDX-License-Identifier: BSD-3-Clause
// A duplicate of the user's communicator: our messages cannot meet the user's, and errors come back as codes.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::mpi {

class Communicator {
 public:
  /// Collective. One whose collective operations (collective.hpp) watch, as this does: for deaths, where MPI tells of them, and
  /// for that many seconds; 0: no limit. known: another of the same ranks, if there is one, on which to ask which rank does
  /// not come. Throws Error mpi, with the names of the dead, and timeout; state before MPI_Init or after MPI_Finalize,
  /// invalid_argument for MPI_COMM_NULL and for an intercommunicator.
  Communicator(MPI_Comm parent, double watchdog_s, const Communicator* known = nullptr);
  /// Collective. A duplicate of another, made under its watchdog, that watches whatever the limit: set_watchdog().
  static constexpr struct Watching {
  } watching{};
  Communicator(const Communicator& parent, Watching);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  MPI_Comm get() const { return comm_; }
  Rank rank() const { return rank_; }
  Rank num_ranks() const { return num_ranks_; }
  /// The same on all ranks: some rank has a limit, or MPI tells of deaths.
  bool watches() const { return watches_; }
  bool watches_deaths() const { return watches_deaths_; }
  double watchdog_s() const { return watchdog_s_; }
  /// Not collective. Something is left on it that no rank waits for: MPI keeps it.
  void give_up() const { is_given_up_ = true; }
  bool is_given_up() const { return is_given_up_; }
  /// Not collective: the limit of this rank's operations from now on.
  void set_watchdog(double seconds) const { watchdog_s_ = seconds; }
  /// Not collective. Those that share memory with this rank, once they are known (host_ranks.hpp); empty before.
  std::vector<Rank>& ranks_of_host() const { return ranks_of_host_; }

 private:
  void duplicate(MPI_Comm parent, const Communicator* known);

  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank rank_ = 0;
  Rank num_ranks_ = 0;
  bool watches_ = false;
  bool watches_deaths_ = false;
  mutable double watchdog_s_ = 0;
  mutable bool is_given_up_ = false;
  mutable std::vector<Rank> ranks_of_host_;
};

/// Whether there is an MPI_COMM_WORLD; programs may have sessions instead.
bool has_world();
/// Whether MPI is there for this communicator, which may be one of a session.
bool may_be_used(MPI_Comm comm);
/// For calls that want one and use it for nothing, as MPI_Pack: MPI_COMM_SELF, or without it one of our own.
MPI_Comm any_comm();

/// Throws Error as Communicator() does.
void check_parent(MPI_Comm parent);

/// The largest that MPI allows: at least 32,767.
int largest_tag();
/// For what the ranks of a host tell each other (host_ranks.hpp); the two above are for roll calls (wait.cpp), those below for exchanges.
inline int host_tag() { return largest_tag() - 2; }
/// This one and the next: for finding them.
inline int meeting_tag() { return host_tag() - 2; }
inline int last_exchange_tag() { return meeting_tag() - 1; }

/// Collective. Goes on to the tags of the next exchange, which are next_tag and the two behind it. When there are no more, comm
/// becomes a duplicate of itself, whose tags are all free: exchanges that hold the old one never meet a new one's messages.
void take_tags(std::shared_ptr<const Communicator>& comm, int& next_tag, int last_tag = last_exchange_tag());

}  // namespace nuice::mpi
