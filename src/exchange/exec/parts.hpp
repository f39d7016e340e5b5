// SPDX-License-Identifier: BSD-3-Clause
// Messages that leave one by one, when the program says that they are ready (PlanOptions::parts), as MPI's partitioned communication.
//
//   start:  start all receives
//   ready:  start this send, in the thread that says so if MPI lets it, and see what has come
//   advance: start what is ready; test what has begun
//
// Threads share two things: a message's flags, which are atomic, and the tests, of which one goes on at a time. Arrivals belong to the
// thread that waits; tests of others leave a list for it.
//
// As with MPI's partitioned communication, an exchange is over when every message was made ready, an empty one too, and all calls of ready()
// have ended: none of them comes too late, and none looks at an exchange that was started again.
//
// Why no rank waits forever: all receives are started before anything else, so every send that is started completes.
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
  /// Takes the message to itself out of the exchange, whose start() would copy it. destinations, sources: in the user's order.
  PartsRun(const Binding& binding, std::span<const Partner> destinations, std::span<const Partner> sources,
           std::optional<SelfMessage> own);

  /// As ready() and arrived() count from now on: all messages that the user has given, of which the listed ones are those with bytes.
  /// receives: the place of each listed one among num_receives.
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
    std::size_t request = no_index;  // of the message to itself there is none
    int num_listed = 0;              // the user lists that number for this rank
    // of the running exchange
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
  std::vector<std::size_t> sends_by_index_;  // none: it has no bytes
  std::vector<std::size_t> receives_by_index_;
  std::vector<Rank> to_by_index_;
  std::unique_ptr<std::atomic<bool>[]> is_ready_;  // by index

  // of the running exchange
  std::atomic<bool> is_active_ = false;
  std::atomic<std::size_t> num_unready_ = 0;  // calls of ready() that have not ended
  std::atomic<std::int64_t> num_events_ = 0;
  std::mutex testing_;
  std::vector<Rank> came_;      // under testing_: to be handed over
  std::size_t num_undone_ = 0;  // likewise
};

}  // namespace nuice::mpi
