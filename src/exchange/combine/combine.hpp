// SPDX-License-Identifier: BSD-3-Clause
// Which messages of a bound plan travel combined, and which do not.
#pragma once

#include <memory>

#include "exchange/bind/layout.hpp"
#include "exchange/combine/combined_run.hpp"

namespace nuice::mpi {

struct Combining {
  std::shared_ptr<const HostGroup> group;
  Bytes largest_bytes = 0;  ///< Larger messages travel by themselves.
  Bytes chunk_bytes = 0;    ///< As RunSettings::chunk_bytes, of messages from host to host.
};

/// Collective over comm: which messages are small, and memory that the ranks of every host share. Where some host cannot have it,
/// nothing is combined. tag: of comm, for what hosts send each other. Requires a table that forwards nothing.
/// Throws Error, the same on all ranks, limit where a rank has no memory.
Decoration combine(const std::shared_ptr<const Communicator>& comm, int tag, const Combining& combining,
                   const PhaseTable& table, const Layout& layout);

}  // namespace nuice::mpi
