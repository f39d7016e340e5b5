// SPDX-License-Identifier: BSD-3-Clause
// Which messages of a bound plan travel combined, and which do not.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "exchange/bind/layout.hpp"
#include "exchange/combine/combined_run.hpp"

namespace nuice::mpi {

struct Combining {
  std::shared_ptr<const HostGroup> group;
  Bytes largest_bytes = 0;  ///< Larger messages travel by themselves.
};

/// What comes of it, for one exchange.
struct Combined {
  std::optional<CombinedParts> parts;  ///< None: nothing is combined.
  PhaseTable rest;                     ///< Then empty. Else the table without what is.
  bool has_rest = false;               ///< Of any rank.
  std::string says;                    ///< What is combined, or why nothing is. Equal on all ranks.
};

/// Collective over comm: which messages are small, and memory that the ranks of every host share. Where some host cannot have it,
/// nothing is combined. tag: of comm, for what hosts send each other. Requires a table that forwards nothing.
/// Throws Error, the same on all ranks, limit where a rank has no memory.
Combined combine(const std::shared_ptr<const Communicator>& comm, int tag, const Combining& combining,
                 const Way& way, const Layout& layout);

}  // namespace nuice::mpi
