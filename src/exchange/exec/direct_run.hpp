// SPDX-License-Identifier: BSD-3-Clause
// Messages without a plan: each is one message of MPI, in an order that every rank knows by itself.
//
//   start:  receives from rank - 1, rank - 2, ...; then sends to rank + 1, rank + 2, ...  (mod n)
//
// All share one tag: MPI matches the messages of a pair in the order in which they are started, those of several
// exchanges too. So ranks may be several exchanges apart, and need not take part where they have no message.
// Only the receiver can see that the ends of a message disagree on its bytes.
//
// Why no rank waits forever: everything is posted in start(), and MPI alone brings it to its end.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "exchange/bind/arrivals.hpp"
#include "exchange/exec/run.hpp"
#include "mpi/requests.hpp"

namespace nuice::mpi {

/// One end of a message.
struct DirectMessage {
  Rank partner;
  Segment segment;
};

class DirectRun : public Run {
 public:
  /// Does not communicate. Messages without bytes are none. is_broken: shared by all runs on the communicator; an
  /// exchange that was given up leaves messages behind, which later ones would match. arrivals: null where no rank asks
  /// for single messages.
  DirectRun(std::shared_ptr<const Communicator> comm, std::shared_ptr<bool> is_broken,
            std::vector<DirectMessage> sends, std::vector<DirectMessage> receives, Arrivals* arrivals);
  static constexpr int tag = 0;

  bool is_empty() const { return messages_.empty(); }

  void start() override;
  bool advance(bool block) override;
  void follow() override {}
  bool always_follows() const override { return true; }
  bool next(bool block) override;
  std::int64_t num_events() const override { return num_events_; }
  std::string waits_for() const override;
  void cancel() noexcept override;
  /// After that: Requests::await_sends().
  void await_sends(Rank gone) noexcept { requests_.await_sends(gone); }

 private:
  struct Message {
    Rank partner;
    Bytes bytes;
    std::size_t arrival;  // of a receive: its place among the arrivals
    bool is_done = false;
  };
  void require_whole() const;
  void add(const DirectMessage& message, bool is_send);
  bool take_in_order();
  bool take_some(bool block);
  void take(std::size_t i, const MPI_Status& status);
  void check_code(std::size_t i, int code, const char* call) const;
  [[noreturn]] void fail_by_status(int code, const char* call, std::size_t count, bool are_all) const;

  std::shared_ptr<const Communicator> comm_;
  std::shared_ptr<bool> is_broken_;
  Arrivals* arrivals_;
  std::vector<Message> messages_;  // receives, then sends
  std::size_t num_receives_ = 0;
  Requests requests_;  // by message
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::size_t first_left_ = 0;
  std::size_t num_left_ = 0;
  std::int64_t num_events_ = 0;
};

}  // namespace nuice::mpi
