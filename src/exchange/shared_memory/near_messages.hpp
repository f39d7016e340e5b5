// SPDX-License-Identifier: BSD-3-Clause
// Finds the messages of a bound plan that stay on their host and are short enough for shared memory, and
// assigns places to them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exchange/bind/whole_messages.hpp"
#include "exchange/exec/outer_run.hpp"
#include "exchange/shared_memory/mailboxes.hpp"
#include "mpi/host/shared_segment.hpp"

namespace nuice::mpi {

/// A message of this rank in its host's shared memory.
struct NearPlace {
  Rank partner;
  std::size_t partner_index;  ///< The partner's index among the ranks of the host.
  Bytes bytes;
  std::size_t begin;  ///< The offset of its mailbox.
};

/// The parts of a NearRun, which bind() makes.
struct NearParts : Decorator {
  std::shared_ptr<const Communicator> comm;
  int tag = 0;  ///< A tag of comm that no message uses.
  TableElements elements;
  std::vector<NearPlace> sends;
  std::vector<NearPlace> receives;
  std::size_t index = 0;  ///< The index of this rank among the ranks of the host.
  Number num_slots = 2;
  bool is_oversubscribed = false;  ///< Whether the ranks of the host outnumber its cores.
  SharedSegment memory;

  std::unique_ptr<Run> around(std::unique_ptr<Run> others, Rank rank, Arrivals& arrivals) override;
};

/// Collective over comm. Takes the messages of at most largest_bytes between ranks of a host. near: the ranks
/// of this rank's host, ascending. If any host cannot share memory, no message is taken. Requires a table
/// without forwarding. Throws the same Error on all ranks: `limit` if a rank is out of memory, `mismatch` if
/// the two ends of a message have different sizes. Memory of a host: each message has 2 to 16 slots, and more
/// than two only if 256 KiB per rank suffice.
Decoration find_near_messages(const std::shared_ptr<const Communicator>& comm, int tag,
                              std::span<const Rank> near, Bytes largest_bytes, const PhaseTable& table,
                              const Layout& layout);

}  // namespace nuice::mpi
