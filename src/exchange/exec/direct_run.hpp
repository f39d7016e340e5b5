// SPDX-License-Identifier: BSD-3-Clause
// Messages without a plan. Each is one message of MPI, in an order that every rank knows without
// communication.
//
//   start:  receives from rank - 1, rank - 2, ...; then sends to rank + 1, rank + 2, ...  (mod n)
//
// All messages share one tag. MPI matches the messages of a pair of ranks in the order in which they are
// started, also across exchanges. So ranks may be several exchanges apart, and a rank without messages need
// not take part. If the two ends of a message disagree on its size, only the receiver notices.
//
// Why no rank waits forever: start() posts everything, and MPI completes it without help.
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
  /// Does not communicate. Messages without bytes are ignored. is_broken: shared by all runs on the
  /// communicator. After an exchange was given up it is true, because later exchanges would match its
  /// remaining messages. arrivals: null if the program never asks for single messages.
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
  /// Calls Requests::await_sends(). Call it after cancel().
  void await_sends(Rank gone) noexcept { requests_.await_sends(gone); }

 private:
  struct Message {
    Rank partner;
    Bytes bytes;
    std::size_t arrival;  // of a receive: its index in the arrivals
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
