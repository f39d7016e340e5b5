// SPDX-License-Identifier: BSD-3-Clause
// A duplicate of the user's communicator: messages of the library cannot meet the user's, and errors are
// returned as codes.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::mpi {

class Communicator {
 public:
  /// Collective. Makes a communicator whose collective operations (collective.hpp) watch for deaths, if MPI
  /// reports deaths, and for a limit of watchdog_s seconds (0: no limit). The constructor watches too. known:
  /// another communicator of the same ranks, or null. It is used to find ranks that do not take part. Throws
  /// Error `mpi` with the names of dead ranks; `timeout`; `state` before MPI_Init or after MPI_Finalize; and
  /// `invalid_argument` for MPI_COMM_NULL and for an intercommunicator.
  Communicator(MPI_Comm parent, double watchdog_s, const Communicator* known = nullptr);
  /// Collective. Duplicates another communicator, under the other communicator's watchdog. The duplicate
  /// always watches, so that set_watchdog() may set a limit later.
  static constexpr struct Watching {
  } watching{};
  Communicator(const Communicator& parent, Watching);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  MPI_Comm get() const { return comm_; }
  Rank rank() const { return rank_; }
  Rank num_ranks() const { return num_ranks_; }
  /// Whether any rank has a limit or MPI reports deaths. The same on all ranks.
  bool watches() const { return watches_; }
  bool watches_deaths() const { return watches_deaths_; }
  double watchdog_s() const { return watchdog_s_; }
  /// Not collective. Marks that operations are active for which no rank waits. The communicator is then never
  /// freed.
  void give_up() const { is_given_up_ = true; }
  bool is_given_up() const { return is_given_up_; }
  /// Not collective. Sets the limit of this rank's operations from now on.
  void set_watchdog(double seconds) const { watchdog_s_ = seconds; }
  /// Not collective. Returns the ranks that share memory with this rank; empty until they are known
  /// (host_ranks.hpp).
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

/// Whether there is an MPI_COMM_WORLD; programs may use sessions instead.
bool has_world();
/// Whether MPI is initialised for this communicator, which may come from a session.
bool may_be_used(MPI_Comm comm);
/// Returns a communicator for calls that require a communicator but do not communicate, such as MPI_Pack. It
/// is MPI_COMM_SELF or, if that does not exist, a communicator of the library.
MPI_Comm any_comm();

/// Throws Error like Communicator().
void check_parent(MPI_Comm parent);

/// Returns the largest tag that MPI allows: at least 32,767.
int largest_tag();
/// The tag of messages between the ranks of a host (host_ranks.hpp). The two larger tags are for roll calls
/// (wait.cpp). Smaller tags are for meetings and exchanges.
inline int host_tag() { return largest_tag() - 2; }
/// The first of the two tags with which ranks of a host find each other (meeting.hpp).
inline int meeting_tag() { return host_tag() - 2; }
inline int last_exchange_tag() { return meeting_tag() - 1; }

/// Collective. Moves on to the tags of the next exchange: next_tag and the two that follow. If no tags are
/// left, replaces comm by a duplicate of it, whose tags are all free. So messages of older exchanges, which
/// still hold the old communicator, never meet messages of new exchanges.
void take_tags(std::shared_ptr<const Communicator>& comm, int& next_tag, int last_tag = last_exchange_tag());

}  // namespace nuice::mpi
