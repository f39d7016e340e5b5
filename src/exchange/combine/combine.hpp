// SPDX-License-Identifier: BSD-3-Clause
// Finds the messages of a bound plan that are combined, and leaves all other messages to the plan's executor.
#pragma once

#include <memory>
#include <utility>

#include "exchange/bind/layout.hpp"
#include "exchange/bind/whole_messages.hpp"
#include "exchange/combine/host_group.hpp"
#include "exchange/exec/outer_run.hpp"
#include "exchange/host_layout.hpp"
#include "mpi/host/shared_segment.hpp"

namespace nuice::mpi {

/// The parts of a CombinedRun, which bind() makes.
struct CombinedParts : Decorator {
  explicit CombinedParts(exchange::HostLayout its_layout) : layout(std::move(its_layout)) {}

  std::shared_ptr<const HostGroup> group;
  std::shared_ptr<const Communicator> comm;  // for messages between hosts
  int tag = 0;                               // of these messages
  Bytes chunk_bytes = 0;                     // the size of their pieces, as RunSettings::chunk_bytes
  TableElements elements;                    // of this rank's combined messages
  exchange::HostLayout layout;
  SharedSegment memory;

  std::unique_ptr<Run> around(std::unique_ptr<Run> others, Rank rank, Arrivals& arrivals) override;
};

struct Combining {
  std::shared_ptr<const HostGroup> group;
  Bytes largest_bytes = 0;  ///< Larger messages are not combined.

  /// The size of the pieces of messages between hosts, like RunSettings::chunk_bytes.
  Bytes chunk_bytes = 0;
};

/// Collective over comm. Finds the small messages, and makes memory that the ranks of every host share. If
/// any host cannot share memory, nothing is combined. tag: a tag of comm for messages between hosts. Requires
/// a table without forwarding. Throws the same Error on all ranks: `limit` if a rank is out of memory.
Decoration combine(const std::shared_ptr<const Communicator>& comm, int tag, const Combining& combining,
                   const PhaseTable& table, const Layout& layout);

}  // namespace nuice::mpi
