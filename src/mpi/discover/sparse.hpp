// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of short messages whose receivers do not know which ranks will write, in memory of the order of a rank's own messages:
// nonblocking consensus, NBX (Hoefler, Siebert, Lumsdaine 2010), which ends with a sum over all ranks that is wanted anyway.
//
//   SparseExchange sparse(comm, tag);                     // and tag + 1
//   box.add(3, bytes); sums = {1, 0};                     // what this rank has to tell rank 3, and what it adds
//   for (const auto& item : sparse.run(std::move(box), sums, 20).items) ...    // sums: of all ranks, now
//
// Cost: O(own messages + log ranks) time; two ways for every message, as sends are synchronous.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"

namespace nuice::mpi {

class SparseExchange {
 public:
  static constexpr std::size_t num_sums = 2;
  using Sums = std::array<std::uint64_t, num_sums>;

  /// first_tag and the next are used for nothing else on comm.
  SparseExchange(const Communicator& comm, int first_tag) : comm_(comm), first_tag_(first_tag) {}

  /// One message: bytes, and the rank to or from which it goes.
  struct Item {
    Rank partner;
    std::size_t begin;
    std::size_t end;
  };
  /// Messages back to back.
  struct Box {
    std::vector<std::byte> bytes;
    std::vector<Item> items;

    void clear() {
      bytes.clear();
      items.clear();
    }
    void add(Rank partner, std::span<const std::byte> message) {
      items.push_back({partner, bytes.size(), bytes.size() + message.size()});
      bytes.insert(bytes.end(), message.begin(), message.end());
    }
    std::span<const std::byte> of(const Item& item) const {
      return std::span(bytes).subspan(item.begin, item.end - item.begin);
    }
  };

  /// Collective. Every rank writes at most one message to each other. Returns, until the next run, what has come, by ascending sender; `sums`
  /// become those of all ranks. most_bytes: no message of any rank is longer. Throws Error mpi or timeout as wait() (wait.hpp).
  const Box& run(Box out, Sums& sums, std::size_t most_bytes);

 private:
  struct Pending;

  const Communicator& comm_;
  int first_tag_;
  int turn_ = 0;  // of the two tags: no rank is two runs ahead, since all take part in each run's sum
  Box in_;
};

}  // namespace nuice::mpi
