// SPDX-License-Identifier: BSD-3-Clause
// Messages that are sent one by one, when the program says that they are ready (PlanOptions::parts), as in
// MPI's partitioned communication.
//
//   start:    start all receives
//   ready:    start this send, in the calling thread if MPI allows it, and test what has arrived
//   advance:  start messages that are ready; test what has begun
//
// Threads share the messages' atomic flags, and take turns to test requests. Only the thread that waits uses
// the Arrivals; other threads that test append the senders of arrived messages to came_, which it reads.
//
// As in MPI's partitioned communication, an exchange is complete when every message, even an empty one, was
// made ready, and all calls of ready() have ended. So no call of ready() comes after the exchange is
// complete, or when it was started again.
//
// Why no rank waits forever: all receives are started before anything else, so every send that is started
// completes.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/support/no_index.hpp"
#include "exchange/bind/table_requests.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "exchange/exec/run.hpp"

namespace nuice::mpi {

class PartsRun : public Run {
 public:
  /// Takes over the rank's message to itself, which the exchange's start() would copy. destinations, sources:
  /// in the user's order.
  PartsRun(const Binding& binding, std::span<const Partner> destinations, std::span<const Partner> sources,
           std::optional<SelfMessage> own);

  /// Renumbers the messages for ready() and arrived(): indices then count all messages of the user, also
  /// those without bytes. receives: the index of each listed message among num_receives.
  void number(std::span<const Outgoing> sends, std::span<const std::size_t> receives,
              std::size_t num_receives);

  void start() override;
  bool advance(bool block) override { return advance(block, false); }
  void follow() override {}
  bool always_follows() const override { return true; }
  bool next(bool block) override { return advance(block, block); }
  std::int64_t num_events() const override { return num_events_.load(std::memory_order_relaxed); }
  std::string waits_for() const override;
  void cancel() noexcept override;
  void ready(std::size_t index) override;
  bool arrived(std::size_t index) override;

 private:
  struct Message {
    Rank partner = no_rank;
    std::size_t request = no_index;  // none for the message to itself
    int num_listed = 0;              // how often the user lists this rank

    // State of the running exchange.
    std::atomic<int> num_held = 0;
    std::atomic<bool> is_begun = false;
    std::atomic<bool> is_done = false;
  };
  using Messages = std::vector<std::unique_ptr<Message>>;

  Message& add(const Binding& binding, const Partner& partner, bool is_send, Messages& messages);
  static std::vector<std::size_t> listed_in(const Messages& messages, std::span<const Partner> listed,
                                            bool counts);
  bool may_call_mpi() const;
  void release(Message& message);
  void begin(Message& message);
  void step();
  void take(Message& message);
  void hand_over();
  bool advance(bool block, bool until_arrival);

  std::shared_ptr<const Communicator> comm_;
  Arrivals& arrivals_;
  std::optional<SelfMessage> own_;
  int own_tag_;
  bool is_multiple_ = false;  // any thread may call MPI
  std::vector<Datatype> types_;
  Requests requests_;
  Messages sends_;
  Messages receives_;
  std::vector<std::size_t> sends_by_index_;  // no_index if it has no bytes
  std::vector<std::size_t> receives_by_index_;
  std::vector<Rank> to_by_index_;
  std::unique_ptr<std::atomic<bool>[]> is_ready_;  // by index

  // State of the running exchange.
  std::atomic<bool> is_active_ = false;
  std::atomic<std::size_t> num_unready_ = 0;  // calls of ready() that have not ended
  std::atomic<std::int64_t> num_events_ = 0;
  std::mutex testing_;
  std::vector<Rank> came_;      // arrived messages to be handed over; under testing_
  std::size_t num_undone_ = 0;  // messages that are not done; under testing_
};

}  // namespace nuice::mpi
