// SPDX-License-Identifier: BSD-3-Clause
// Where bytes wait that this rank forwards.
//
// Every part that is received for another rank has a place of its own, in the order of the table. No place is
// used twice: all receives are posted before the exchange begins, so a message of a late phase may arrive
// while one of an early phase is still here.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/requests.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

class Stage {
 public:
  /// Room for all that is put. Nothing for a table of direct transfers.
  explicit Stage(Bytes bytes);

  // In the order of the table's entries; in one entry the send before the receive.
  /// Gives the part a place.
  Block put(const Part& part);
  /// Appends where the part lies now; its places are then no longer known. Throws Error mismatch if some byte
  /// of it was not put before, which a checked table does not ask for.
  void take(const Part& part, std::vector<Block>& places);

  /// The memory, which must outlive the requests that were made from the blocks.
  std::unique_ptr<std::byte[]> release() { return std::move(memory_); }

 private:
  using Places = std::map<Bytes, Block>;  // by offset in the message

  std::unique_ptr<std::byte[]> memory_;
  Bytes used_ = 0;
  std::map<std::pair<Rank, Rank>, Places> messages_;
};

}  // namespace nuice::mpi
