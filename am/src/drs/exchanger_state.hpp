// SPDX-License-Identifier: BSD-3-Clause
// What a exchanger keeps: handlers, entries of a receive list that have come, and the exchanges by their number.
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

/// May I send message `slot` of mine, of `bytes` bytes, in this round?
struct Inquiry {
  std::uint32_t exchange;
  std::uint32_t slot;
  std::uint64_t round;
  Bytes bytes;
};

enum class Reply : std::uint32_t {
  granted,        ///< Send to this port.
  refused,        ///< Ask again (WhenBusy::refuse), or wait for `granted_later`.
  granted_later,  ///< An answer not to the current inquiry, but to an earlier one.
};

struct Answer {
  std::uint32_t exchange;
  std::uint32_t slot;
  std::uint64_t round;
  am::PortRef port;
  Reply reply;
};

/// The sender has sent: the lock is free again.
struct Release {
  std::uint64_t round;
  std::uint32_t exchange;
};

struct Verdict {
  std::int32_t code;
};

struct Exchanger::State {
  /// The endpoint's handlers keep it alive: a release may come when exchanger and exchanges are gone.
  static std::shared_ptr<State> make(am::Endpoint& ep);
  explicit State(am::Endpoint& ep) : endpoint(ep), active{.endpoint = &ep, .running = {}} {}

  Place place() const { return {endpoint.rank(), endpoint.num_ranks()}; }

  /// Collective: the step, which must not communicate, succeeds on all ranks, or all throw what the lowest failing
  /// rank threw. Cost: a reduction.
  void agree(const std::function<void()>& step);

  /// Sends this rank's row, entry by entry; others' entries are collected in `entries`.
  void send_entries(std::span<const Partner> destinations);
  /// What has come, in order; `entries` is then empty.
  std::vector<Partner> take_entries();

  // Steps of collective calls, to be taken inside a Collective: what handlers throw is held.
  std::vector<std::int64_t> reduce(am::ReduceOp op, std::span<const std::int64_t> values);
  void quiesce();
  template <typename Done>
  void wait_until(Done&& done) {
    while (!done()) held.of([&] { endpoint.poll_until(done); });
  }

  /// Collective: options are valid and equal on all ranks.
  void check_options(const Options& options);
  /// Collective: sources are what the others send. Throws Error mismatch on all ranks, naming a pair.
  void check_sources(std::span<const Partner> destinations, std::span<const Partner> sources);

  MessageRun& run(std::uint32_t exchange, Rank asking);
  MessageRun* find_run(std::uint32_t exchange);

  am::Endpoint& endpoint;
  ActiveRuns active;
  std::vector<Partner> entries;
  std::vector<MessageRun*> runs;  // by number; null when freed
  std::uint32_t next_number = 0;  // of the next bind(), which is collective: the same on all ranks
  std::optional<Error> verdict;
  am::FirstError held;

  am::Handler<Bytes> entry_handler;
  am::Handler<Verdict> verdict_handler;
  am::Handler<Inquiry> inquiry_handler;
  am::Handler<Answer> answer_handler;
  am::Handler<Release> release_handler;
};

/// Held by a collective call from its first step to its last. Handlers run only inside the steps, and what they throw is
/// thrown by the next call that makes progress: this one has to tell all ranks the same.
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

/// Collective. Exchanger::bind once the options are checked; what the exchange needs lives at least as long as it.
Exchange bind_messages(const std::shared_ptr<void>& keeps_alive, Exchanger::State& exchanger,
                       std::span<const Partner> destinations, std::span<const Partner> sources,
                       std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                       const Options& options);

}  // namespace nuice::drs
