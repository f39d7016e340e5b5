// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of short messages whose receivers do not know which ranks will send. Memory is proportional to a
// rank's own messages. The method is nonblocking consensus, NBX (Hoefler, Siebert, Lumsdaine 2010). It ends
// with a sum over all ranks, in which callers include two numbers of their own.
//
//   SparseExchange sparse(comm, tag);                     // and tag + 1
//   box.add(3, bytes); sums = {1, 0};                     // a message to rank 3, and this rank's summands
//   for (const auto& item : sparse.run(std::move(box), sums, 20).items) ...    // sums: now over all ranks
//
// Cost: O(own messages + log ranks) time. Every message costs a round trip, because sends are synchronous.
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

  /// No other messages on comm may use the tags first_tag and first_tag + 1.
  SparseExchange(const Communicator& comm, int first_tag) : comm_(comm), first_tag_(first_tag) {}

  /// One message: its bytes, and the rank to or from which it goes.
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

  /// Collective. Every rank sends at most one message to each other rank. Returns the received messages by
  /// ascending sender. They are valid until the next run. `sums` become the sums over all ranks. most_bytes:
  /// the upper limit for a message of any rank. Throws Error `mpi` or `timeout` like wait() (wait.hpp).
  const Box& run(Box out, Sums& sums, std::size_t most_bytes);

 private:
  struct Pending;

  const Communicator& comm_;
  int first_tag_;
  int turn_ = 0;  // alternates between the two tags: no rank is two runs ahead, because all ranks take part
                  // in each run's sum
  Box in_;
};

}  // namespace nuice::mpi
