// SPDX-License-Identifier: BSD-3-Clause
// The memory for bytes that this rank forwards.
//
// Every part that is received for another rank has its own place, in the order of the table. Places are not
// reused: all receives are posted before the exchange begins, so a message of a late phase may arrive while a
// message of an early phase is still here.
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
  /// bytes: the size of all parts that put() will get; 0 for a table of direct transfers.
  explicit Stage(Bytes bytes);

  // Call put() and take() in the order of the table's entries. Within an entry, the send comes before the
  // receive.

  /// Assigns a place to the part.
  Block put(const Part& part);
  /// Appends the places of the part, and frees them. Throws Error `mismatch` if a byte of the part was not
  /// put before, which cannot happen with a checked table.
  void take(const Part& part, std::vector<Block>& places);

  /// Hands over the memory. It must outlive the requests that were made from the blocks.
  std::unique_ptr<std::byte[]> release() { return std::move(memory_); }

 private:
  using Places = std::map<Bytes, Block>;  // by offset in the message

  std::unique_ptr<std::byte[]> memory_;
  Bytes used_ = 0;
  std::map<std::pair<Rank, Rank>, Places> messages_;
};

}  // namespace nuice::mpi
