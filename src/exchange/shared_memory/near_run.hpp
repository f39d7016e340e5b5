// SPDX-License-Identifier: BSD-3-Clause
// Carries short messages between ranks of a host through mailboxes in shared memory, without MPI. A message
// is copied in once and out once. The plan's executor carries larger messages and messages to other hosts at
// the same time.
//
//   start:    write all messages; start the other executor
//   advance:  read what has arrived; check for room for the next exchange; advance the other executor
//
// An exchange ends only when there is room to write the next one. So start() never waits. A rank that has
// started and then does something else, such as a receive of the program, delays no other rank.
//
// Why no rank waits forever: to read exchange k, a rank waits until its writers have called start(). Room for
// exchange k + 1 requires that readers have finished exchange k + 1 - slots, which is before k. So when all
// ranks have started k, all messages are written, all are read, and there is room.
//
// Cost of a message: two copies, and one cache line that moves from one core to another. A reader publishes
// once per exchange that it has finished. A writer reads this counter once in as many exchanges as a mailbox
// has slots.
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
  /// Not collective. others: the run of the other messages; null if there are none.
  NearRun(NearParts parts, Arrivals& arrivals, std::unique_ptr<Run> others);

 private:
  struct Message {
    Mailbox box;
    std::vector<SharedCopy> copies;
    Rank partner;
  };
  struct Outgoing : Message {
    const ReaderLine* reader;
    Number finished = 0;  // the reader's counter when this rank last read it
  };
  struct Incoming : Message {
    std::size_t source;  // index in the arrivals
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
  std::vector<std::uint32_t> unread_;  // indices of messages; the first num_unread_ are still missing

  // State of the running exchange.
  Number number_ = 0;
  // how many of outgoing_, from the first on, have room for the next exchange
  std::size_t num_with_room_ = 0;
  std::size_t num_unread_ = 0;
};

}  // namespace nuice::mpi
