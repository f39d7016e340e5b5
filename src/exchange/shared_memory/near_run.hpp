// SPDX-License-Identifier: BSD-3-Clause
// Short messages between ranks of a host go through mailboxes in memory that they share, without MPI: one copy in, one copy out.
// What is larger, or leaves the host, travels at the same time, by the executor of the plan.
//
//   start:    write all; the other executor starts
//   advance:  read what has come; see whether there is room for the next exchange; the other executor goes on
//
// An exchange is not over before there is room to write the next one. So start() never waits: a rank that has started and is busy with
// something else, as a receive of the program's, keeps no rank waiting.
//
// Why no rank waits forever: reading exchange k waits for start() of its writers, and room for k + 1 for the readers of k + 1 - slots,
// which is before k. So when all ranks have started k, all is written, all is read, and there is room.
//
// Cost of a message: its bytes twice, and one cache line that passes from one core to another. A reader says once an exchange that it
// has finished, and writers look at that once in as many exchanges as a box has slots.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/exec/outer_run.hpp"
#include "exchange/shared_memory/near_messages.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {

class NearRun : public OuterRun {
 public:
  /// others: what carries out the rest; null: there is none. Not collective.
  NearRun(NearParts parts, Arrivals& arrivals, std::unique_ptr<Run> others);

 private:
  struct Message {
    Mailbox box;
    std::vector<SharedCopy> copies;
    Rank partner;
  };
  struct Outgoing : Message {
    const ReaderLine* reader;
    Number finished = 0;  // of its exchanges, when this rank last looked
  };
  struct Incoming : Message {
    std::size_t source;  // in the arrivals
  };

  ReaderLine& line_of(std::size_t index) const {
    return reinterpret_cast<ReaderLine*>(parts_.memory.data())[index];
  }
  Message message_of(const NearPlace& place, const std::vector<TableElements::Elements>& elements) const;
  bool has_room_for_next(Outgoing& message) const;
  void look_for_room();
  void write(const Outgoing& message);
  void read();

  void begin() override;
  void go_on() override;
  bool is_over() const override { return num_unread_ == 0 && num_with_room_ == outgoing_.size(); }
  void wait_a_little() override;
  void land_what_is_here() override;
  std::vector<Rank> own_waits_for() const override;

  NearParts parts_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<std::uint32_t> unread_;  // in any order; the first num_unread_ are still to come

  // of the running exchange
  Number number_ = 0;
  std::size_t num_with_room_ = 0;  // for the next exchange, of outgoing_ from the first on
  std::size_t num_unread_ = 0;
};

}  // namespace nuice::mpi
