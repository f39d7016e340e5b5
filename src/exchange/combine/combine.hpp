// SPDX-License-Identifier: BSD-3-Clause
// Finds the messages of a bound plan that are combined, and leaves all other messages to the plan's executor.
#pragma once

#include <memory>

#include "exchange/bind/layout.hpp"
#include "exchange/combine/combined_run.hpp"

namespace nuice::mpi {

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
