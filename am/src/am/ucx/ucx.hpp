// SPDX-License-Identifier: BSD-3-Clause
// Transport "ucx": UCX active messages (ucp_am_*), bulk data by UCX tag matching (rendezvous, zero copy).
//
// A message is one eager UCX message: our header (which names the sender instead of the length, as UCX knows that), then
// the payload. UCX has a header of its own choice too, but puts it behind the payload, where reading it costs another
// cache miss. UCX hands the message to the handler where it lies. Nothing is
// unexpected here, as UCX calls back on arrival; what a sender may have in flight to one rank is bounded by slots, and
// each slot is free again when UCX no longer needs it. What only MPI can do in the set-up and for reductions comes in
// through the Rendezvous, so that this layer needs no MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nuice/am/transport.hpp"

namespace nuice::am::ucx {

/// What the ranks need from outside to find each other and to agree.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual Rank rank() const = 0;
  virtual Rank num_ranks() const = 0;
  virtual bool oversubscribed() const = 0;
  virtual bool allows_threads() const = 0;
  /// Collective. Every rank's bytes, by rank.
  virtual std::vector<std::string> all_gather(const std::string& mine) = 0;
  /// Collective. Whether all ranks say yes.
  virtual bool all_agree(bool mine) = 0;
  virtual void start_reduce(ReduceOp op, std::span<const std::int64_t> values) = 0;
  virtual bool test_reduce(std::span<std::int64_t> result) = 0;
  virtual std::vector<Rank> dead_ranks() = 0;
  virtual bool is_orphan() const = 0;
};

/// Collective. Throws Error mpi (as the other transports' set-up errors) on all ranks if UCX fails on one.
std::unique_ptr<Transport> connect(std::unique_ptr<Rendezvous> rendezvous, std::size_t max_message_bytes);

}  // namespace nuice::am::ucx
