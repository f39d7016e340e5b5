// SPDX-License-Identifier: BSD-3-Clause
// Transport "ucx": UCX active messages (ucp_am_*); bulk data by UCX tag matching (rendezvous, zero copy).
//
// A message is one eager UCX message: NUICE's header, then the payload. The header names the sender instead
// of the length, which UCX knows. UCX also offers a header of its own, but puts it after the payload, where
// reading it costs another cache miss. UCX passes the message to the handler where it lies. There are no
// unexpected messages, because UCX calls back on arrival. Slots limit how many messages a sender may have in
// flight. A slot is free again when UCX no longer needs it. Set-up and reductions need MPI. The Rendezvous
// provides them, so that this layer does not depend on MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nuice/am/transport.hpp"

namespace nuice::am::ucx {

/// What the ranks need in addition to UCX to find each other and to agree.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual Rank rank() const = 0;
  virtual Rank num_ranks() const = 0;
  virtual bool oversubscribed() const = 0;
  virtual bool allows_threads() const = 0;
  /// Collective. Returns every rank's bytes, by rank.
  virtual std::vector<std::string> all_gather(const std::string& mine) = 0;
  /// Collective. Returns whether the argument is true on all ranks.
  virtual bool all_agree(bool mine) = 0;
  virtual void start_reduce(ReduceOp op, std::span<const std::int64_t> values) = 0;
  virtual bool test_reduce(std::span<std::int64_t> result) = 0;
  virtual std::vector<Rank> dead_ranks() = 0;
  virtual bool is_orphan() const = 0;
};

/// Collective. If UCX fails on one rank, throws Error `mpi` on all ranks, like the set-up of the other
/// transports.
std::unique_ptr<Transport> connect(std::unique_ptr<Rendezvous> rendezvous, std::size_t max_message_bytes);

}  // namespace nuice::am::ucx
