// SPDX-License-Identifier: BSD-3-Clause
// A bound exchange and its progress: the part that both kinds of lock have in common.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "am/first_error.hpp"
#include "core/support/watchdog.hpp"
#include "nuice/am/drs.hpp"
#include "nuice/am/endpoint.hpp"

namespace nuice::drs {

class Run;

/// The active exchanges of a rank. All of them make progress together, so that the program may wait for them
/// in any order.
struct ActiveRuns {
  am::Endpoint* endpoint = nullptr;
  std::vector<Run*> running;
  std::size_t num_bound = 0;  // `running` has room for all of them, so that start() does not allocate
  QuietTime quiet{};          // time without a message sent or received; refused inquiries are not progress

  /// Makes progress for all exchanges. Exceptions of handlers are kept. Throws only Error `state` inside a
  /// handler, and errors of the transport.
  void step(am::FirstError& held);
  /// Throws TransportError `timeout` if no message was sent or received for the endpoint's watchdog_s.
  /// is_first: whether this is the first check of a wait.
  void check_watchdog(bool is_first);
};

/// Messages to and from other ranks, without empty ones, and the rank's message to itself.
struct Messages {
  struct Outgoing {
    Rank dst;
    std::span<const std::byte> data;
  };
  struct Incoming {
    Rank src;
    std::span<std::byte> data;
  };
  std::vector<Outgoing> out;  // in the order in which they are tried first
  std::vector<Incoming> in;   // by ascending rank
  std::span<const std::byte> self_from;
  std::span<std::byte> self_to;
};

class Run {
 public:
  Run(std::shared_ptr<void> keeps_alive, ActiveRuns& active, Messages messages, const Options& options);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  virtual ~Run();

  void start();
  /// Makes progress. Returns whether the run is complete. block: waits until the run is complete. Exceptions
  /// of handlers are thrown at the end.
  bool advance(bool block);
  void finish_quietly() noexcept;
  static void release(std::unique_ptr<Run> run) noexcept;  // destroys an exchange
  /// Makes one step. Returns whether this rank's part is complete. Exceptions of handlers are kept; any other
  /// exception ends the run.
  virtual bool step(am::FirstError& held) = 0;

  /// Whether start() has been called, but no wait() or test() has reported the end.
  bool is_started() const { return started_; }
  bool is_broken() const { return broken_; }
  Counters counters() const;
  /// Returns the number of messages sent and received since the run was made.
  std::int64_t num_moved() const { return num_moved_; }
  /// Appends the ranks whose messages or grants are still missing.
  virtual void append_waited_for(std::vector<Rank>& ranks) const = 0;
  void complete() { complete_ = true; }
  void fail(std::exception_ptr why) { failure_ = std::move(why); }

 protected:
  virtual void begin() = 0;
  /// Whether MPI may no longer be called.
  virtual bool is_over() const { return false; }

  /// Removes the message for which this rank asks next from the waiting messages, and returns it. Returns -1
  /// if this rank may not ask for any message now.
  int next_to_ask();
  /// Puts a refused message after all other waiting messages.
  void ask_again_later(std::uint32_t message);

  std::shared_ptr<void> keeps_alive_;  // destroyed last
  ActiveRuns& active_;
  Messages messages_;
  Options options_;
  Counters counters_;
  std::uint64_t round_ = 0;  // counts the starts
  std::int64_t num_moved_ = 0;

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<std::uint32_t> waiting_;  // ring of messages neither granted nor asked for
  std::size_t first_waiting_ = 0;
  std::size_t num_waiting_ = 0;
  std::vector<Clock::time_point> not_before_;  // by message; only with a delay
  bool started_ = false;
  bool complete_ = false;       // possibly by another exchange's progress
  std::exception_ptr failure_;  // possibly set by another exchange's progress
  bool broken_ = false;         // the exchange was given up
};

}  // namespace nuice::drs
