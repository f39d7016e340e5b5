// SPDX-License-Identifier: BSD-3-Clause
// Lets the ranks of a host find out together that no message is in flight: by counts in shared memory, and
// between hosts by one rank of each host. EndpointCore::quiesce_by() is the loop that every rank runs.
//
// The first rank of a host leads. Its orders are numbered, and all ranks of the host follow the newest order:
//
//   go        send what waits in coalescers, report it (ready), receive messages, and publish the counts
//   take      receive messages: some have not yet arrived
//   wait      receive messages; probably there are none
//   question  receive nothing, and answer whether anything is left to send
//   done      leave
//
// On one host: when as many messages are handled as were sent, the leader asks the question. If no rank has
// anything left to send, the counts no longer change. If they still agree, quiesce() is complete.
//
// Between hosts, in waves: each wave sums up how many messages the hosts' ranks have sent to every host. So a
// host knows how many messages must come. When these have arrived, it asks its ranks. If they have nothing
// left to send, the host waits for the next wave (it is dry). Otherwise its ranks send what they have, and it
// takes part in the next wave at once. A wave is final if all hosts enter it dry, and no host has sent
// anything since the previous wave. Proof: suppose that a message were sent after its host entered the final
// wave. The first such message answers another message that was not yet handled. But that message was sent
// earlier, so the previous wave counted it, and its receiver waited for it.
//
// A sleeping rank has already published its answer, so a question need not wake it: the rank receives nothing
// before it has looked for an order. Ranks are woken for `go` and `done`, and to receive messages that are
// missing when a wave ends.
//
// Messages are received during a wave, because another host may need room for its last messages. When only
// messages sent after the ranks' quiesce() can come, ranks are asked once more to receive nothing, and the
// hosts wait for each other. So a rank that leaves may send at once: its message is handled after the other
// ranks' quiesce().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "am/transport/ring.hpp"
#include "nuice/core/types.hpp"

namespace nuice::am {

class TerminationDetector {
 public:
  /// The numbers that a rank publishes, in memory that its host shares. All zero at the beginning. A word per
  /// host follows: the number of messages sent to that host's ranks.
  struct Counts {
    alignas(cache_line_bytes) std::atomic<std::uint64_t> ready;  ///< The newest `go` that it has followed.
    std::atomic<std::uint64_t> answer;     ///< Twice the newest question, plus 1 if nothing is left.
    std::atomic<std::uint32_t> rest;       ///< The reply of a sleeping rank to any question.
    std::atomic<std::uint64_t> sent_here;  ///< Messages to ranks of its own host, including itself.
    std::atomic<std::uint64_t> handled_here;
    std::atomic<std::uint64_t> handled_from_afar;
    /// Set by the first rank of the host: eight times the order's number, plus its Kind.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> order;
  };
  static constexpr std::size_t bytes_of(std::size_t num_hosts) {
    const std::size_t bytes = sizeof(Counts) + num_hosts * sizeof(std::atomic<std::uint64_t>);
    return (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
  }

  /// Computes sums over the first ranks of all hosts, in place, one sum at a time.
  class Sums {
   public:
    Sums() = default;
    Sums(const Sums&) = delete;
    Sums& operator=(const Sums&) = delete;
    virtual ~Sums() = default;
    virtual void start(std::span<std::int64_t> values) = 0;
    virtual bool test() = 0;
  };

  struct Setup {
    std::vector<std::byte*> counts;      ///< By place on this host: bytes_of(hosts) each.
    std::size_t place = 0;               ///< This rank's place.
    std::vector<std::uint32_t> host_of;  ///< By rank, 0 to hosts - 1.
    std::uint32_t own_host = 0;
    std::size_t num_hosts = 1;
    std::vector<Doorbell*> bells;  ///< By place, to wake sleeping ranks. Empty if no rank sleeps.
    std::unique_ptr<Sums> sums;    ///< Set on the first rank, if there are several hosts.
  };
  explicit TerminationDetector(Setup setup);

  // --- Counting, at all times ---
  void note_send(Rank dst) {
    const std::uint32_t host = setup_.host_of[static_cast<std::size_t>(dst)];
    if (host == setup_.own_host) return;
    ++sent_to_host_[host];
    ++sent_afar_;
  }
  /// An object that exists during a poll for messages of other hosts. It counts the handled messages, even if
  /// handlers throw.
  class FromAfar {
   public:
    FromAfar(TerminationDetector* detector, const std::uint64_t& handled)
        : detector_(detector), handled_(handled), before_(handled) {
      if (detector_ != nullptr) detector_->looks_afar_ = true;
    }
    FromAfar(const FromAfar&) = delete;
    FromAfar& operator=(const FromAfar&) = delete;
    ~FromAfar() {
      if (detector_ == nullptr) return;
      detector_->handled_from_afar_ += handled_ - before_;
      detector_->looks_afar_ = false;
    }

   private:
    TerminationDetector* detector_;
    const std::uint64_t& handled_;
    std::uint64_t before_;
  };
  /// Corrects the count for bulk data of this host, which may come over the same transport.
  void note_bulk_from(Rank src) {
    if (looks_afar_ && setup_.host_of[static_cast<std::size_t>(src)] == setup_.own_host) --handled_from_afar_;
  }

  // --- One quiesce(), from enter() to done ---
  enum class Kind : std::uint8_t { go, take, wait, question, done };
  struct Order {
    std::uint64_t number;
    Kind kind;
  };
  /// Call it after sending all messages that belong before it. sent, handled: the counts of all messages of
  /// this rank since its beginning.
  void enter(std::uint64_t sent, std::uint64_t handled);
  Order order() const;
  void publish(std::uint64_t sent, std::uint64_t handled);
  /// Call publish() before. Only the first call for an order counts.
  void follow(Order go);
  void answer(Order question, bool nothing_left);
  bool has_followed(Order go) const { return followed_ >= go.number; }
  bool has_answered(Order question) const { return answered_ >= question.number; }
  void leave(Order done) { last_done_ = done.number; }
  /// Called before and after a nap; call publish() before. During the nap this rank receives nothing. It
  /// looks for an order before it receives again.
  void rest(bool nothing_left);
  void wake_up();
  /// Whether ranks outnumber cores on this host, so that waiting ranks should sleep.
  bool may_sleep() const { return !setup_.bells.empty(); }
  bool is_leader() const { return setup_.place == 0; }
  bool is_on_one_host() const { return setup_.num_hosts == 1; }
  /// Lets the first rank take the next step, if it can.
  void lead() {
    if (setup_.place == 0) take_step();
  }

 private:
  enum class State : std::uint8_t { gathering, summing, settling, asking, closing, leaving };
  Counts& counts_of(std::size_t place) const { return *reinterpret_cast<Counts*>(setup_.counts[place]); }
  std::atomic<std::uint64_t>* sent_from(std::size_t place) const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(setup_.counts[place] + sizeof(Counts));
  }
  void take_step();
  void give(Kind kind);
  void wake_all();
  void wake_leader();
  void go_on(bool owes_wave);
  bool all_are_ready() const;
  bool is_settled() const;
  enum class Reply : std::uint8_t { none, something_left, nothing_left };
  Reply reply_of(std::size_t place) const;
  bool all_have_answered() const;
  void count_answers();
  void start_wave(bool is_dry);
  void end_wave();

  Setup setup_;
  std::vector<std::uint64_t> sent_to_host_;
  std::uint64_t sent_afar_ = 0;
  std::uint64_t handled_from_afar_ = 0;
  bool looks_afar_ = false;
  std::uint64_t published_ = 0;  // sent and handled messages together
  std::uint64_t last_done_ = 0;  // the order that ended the last quiesce()
  std::uint64_t followed_ = 0;
  std::uint64_t answered_ = 0;
  // Used by the first rank only.
  State state_ = State::gathering;
  std::uint64_t number_ = 0;  // of the newest order
  bool owes_wave_ = false;
  bool is_dry_ = false;
  std::uint64_t expected_ = 0;      // messages from other hosts that were sent before the last wave
  std::int64_t sent_before_ = -1;   // by all hosts, before the last wave
  std::vector<std::int64_t> wave_;  // by host: messages to it; then those by all hosts; then the hosts that
                                    // are not dry
};

}  // namespace nuice::am
