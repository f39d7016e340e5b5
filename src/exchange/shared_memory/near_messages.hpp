// SPDX-License-Identifier: BSD-3-Clause
// Which messages of a bound plan stay on their host and are short enough for its ranks' shared memory, and where they lie there.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exchange/bind/whole_messages.hpp"
#include "exchange/exec/outer_run.hpp"
#include "exchange/shared_memory/mailboxes.hpp"
#include "mpi/host/shared_segment.hpp"

namespace nuice::mpi {

/// A message of this rank's, in the memory of its host.
struct NearPlace {
  Rank partner;
  std::size_t partner_index;  ///< Among the ranks of the host.
  Bytes bytes;
  std::size_t begin;  ///< Of its mailbox.
};

/// What this rank's part of an exchange needs of it.
struct NearParts : Decorator {
  std::shared_ptr<const Communicator> comm;
  int tag = 0;  ///< Of comm: no message ever has it.
  TableElements elements;
  std::vector<NearPlace> sends;
  std::vector<NearPlace> receives;
  std::size_t index = 0;  ///< Of this rank among the ranks of the host.
  Number num_slots = 2;
  bool is_oversubscribed = false;  ///< Ranks of the host outnumber its cores.
  SharedSegment memory;

  std::unique_ptr<Run> around(std::unique_ptr<Run> others, Rank rank, Arrivals& arrivals) override;
};

/// Collective over comm. near: the ranks of this rank's host, ascending. Messages between them of at most largest_bytes are taken. Where
/// some host cannot share memory, none is. Requires a table that forwards nothing. Throws Error, the same on all ranks: limit where a
/// rank has no memory, mismatch where the two ends of a message have different bytes.
/// Memory of a host: each message 2 to 16 times, more than twice only up to 256 KiB for each of its ranks.
Decoration find_near_messages(const std::shared_ptr<const Communicator>& comm, int tag,
                              std::span<const Rank> near, Bytes largest_bytes, const PhaseTable& table,
                              const Layout& layout);

}  // namespace nuice::mpi
