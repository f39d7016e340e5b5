// SPDX-License-Identifier: BSD-3-Clause
// The state of an exchanger: handlers, the receive list's entries that have arrived, and the exchanges by
// number.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "am/endpoint_core.hpp"
#include "am/first_error.hpp"
#include "drs/arguments.hpp"
#include "drs/run.hpp"
#include "nuice/am/drs.hpp"
#include "nuice/am/port.hpp"
#include "nuice/am/progress.hpp"
#include "nuice/core/error.hpp"

namespace nuice::drs {

class MessageRun;

/// Asks whether the sender may send, in this round, its message `slot` of `bytes` bytes.
struct Inquiry {
  std::uint32_t exchange;
  std::uint32_t slot;
  std::uint64_t round;
  Bytes bytes;
};

enum class Reply : std::uint32_t {
  granted,        ///< Send to this port.
  refused,        ///< Ask again (WhenBusy::refuse), or wait for `granted_later`.
  granted_later,  ///< Answers not the current inquiry, but an earlier one.
};

struct Answer {
  std::uint32_t exchange;
  std::uint32_t slot;
  std::uint64_t round;
  am::PortRef port;
  Reply reply;
};

/// Tells the receiver that the sender has sent its message, so that the lock is free again.
struct Release {
  std::uint64_t round;
  std::uint32_t exchange;
};

struct Verdict {
  std::int32_t code;
};

struct Exchanger::State {
  /// The endpoint's handlers keep the state alive, because a release may come after the exchanger and its
  /// exchanges were destroyed.
  static std::shared_ptr<State> make(am::Endpoint& ep);
  explicit State(am::Endpoint& ep) : endpoint(ep), active{.endpoint = &ep, .running = {}} {}

  Place place() const { return {endpoint.rank(), endpoint.num_ranks()}; }

  /// Collective. Runs the step, which must not communicate. Either it succeeds on all ranks, or all ranks
  /// throw the error of the lowest failing rank. Cost: one reduction.
  void agree(const std::function<void()>& step);

  /// Sends this rank's row, entry by entry. The entries that other ranks send here are collected in
  /// `entries`.
  void send_entries(std::span<const Partner> destinations);
  /// Returns the collected entries in order, and clears `entries`.
  std::vector<Partner> take_entries();

  // Steps of collective calls, to be used inside a Collective: exceptions of handlers are kept.
  std::vector<std::int64_t> reduce(am::ReduceOp op, std::span<const std::int64_t> values);
  void quiesce();
  template <typename Done>
  void wait_until(Done&& done) {
    while (!done()) held.of([&] { endpoint.poll_until(done); });
  }

  /// Collective. Checks that options are valid and equal on all ranks.
  void check_options(const Options& options);
  /// Collective. Checks that the sources agree with what other ranks send. Otherwise throws Error `mismatch`
  /// on all ranks, with a pair of ranks.
  void check_sources(std::span<const Partner> destinations, std::span<const Partner> sources);

  MessageRun& run(std::uint32_t exchange, Rank asking);
  MessageRun* find_run(std::uint32_t exchange);

  am::Endpoint& endpoint;
  ActiveRuns active;
  std::vector<Partner> entries;
  std::vector<MessageRun*> runs;  // by number; null when freed
  std::uint32_t next_number = 0;  // of the next bind(); the same on all ranks, because bind() is collective
  std::optional<Error> verdict;
  am::FirstError held;

  am::Handler<Bytes> entry_handler;
  am::Handler<Verdict> verdict_handler;
  am::Handler<Inquiry> inquiry_handler;
  am::Handler<Answer> answer_handler;
  am::Handler<Release> release_handler;
};

/// A collective call holds it from its first step to its last. Handlers run only inside the steps. The next
/// call that makes progress throws their exceptions, because the collective call must report the same result
/// on all ranks.
class Collective {
 public:
  explicit Collective(Exchanger::State& exchanger) : mask_(exchanger.endpoint), exchanger_(exchanger) {}
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  ~Collective() {
    if (exchanger_.held.is_there()) exchanger_.endpoint.core().throw_later(exchanger_.held.take());
  }

 private:
  am::Mask mask_;
  Exchanger::State& exchanger_;
};

/// Collective. Carries out Exchanger::bind() after the options are checked. keeps_alive lives at least as
/// long as the exchange.
Exchange bind_messages(const std::shared_ptr<void>& keeps_alive, Exchanger::State& exchanger,
                       std::span<const Partner> destinations, std::span<const Partner> sources,
                       std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                       const Options& options);

}  // namespace nuice::drs
