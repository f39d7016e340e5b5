// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a host find out together that no message is in flight: by counts in memory that they share, and between
// hosts by one rank of each. EndpointCore::quiesce_by() is the loop that every rank goes through.
//
// The first rank of a host leads. Its orders are numbered, and all ranks of the host follow the newest:
//
//   go        send what waits in coalescers, say so (ready), take messages in, and say how many
//   take      take messages in: some have not come yet
//   wait      take messages in; likely there are none
//   question  take nothing in, and answer whether anything is left to send
//   done      leave
//
// On one host: once as many messages are handled as were sent, the question. If no rank has anything left, the counts do not change
// any more; if they still agree, all is done.
//
// Between hosts, in waves: each adds up how many messages its ranks have sent to every other host. So a host knows how many must
// come, and asks its ranks when they have. Where nothing is left, it waits for the next wave (dry), else its ranks send what they
// have, and it takes part at once. A wave to which all came dry, and before which no host has sent anything since the last, is the
// final one. Suppose a message were sent after its host had come to that wave. The first such answers another, which was not handled
// by then; but that one was sent before, so it was counted in the wave before, and waited for.
//
// A rank that sleeps meanwhile has said what it would answer, so a question wakes no rank: it takes nothing in before it has looked for
// an order. A rank that is needed is woken: for a go, for done, and to take messages that have not come when a wave ends.
//
// Messages are taken in during a wave: another host may need room for what it still sends to all. Only when nothing can come but what
// ranks send after their quiesce(), they are asked once more to take nothing in, and the hosts wait for each other. So a rank that leaves
// may send at once: it is handled after the others' quiesce().
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
  /// What a rank says. In memory that its host shares; all zero at first. Behind it a word for every host: messages to its ranks.
  struct Counts {
    alignas(cache_line_bytes) std::atomic<std::uint64_t> ready;  ///< The newest go that it has followed.
    std::atomic<std::uint64_t> answer;     ///< Twice the newest question, plus 1 where nothing is left.
    std::atomic<std::uint32_t> rest;       ///< Reply of a rank that sleeps, to any question.
    std::atomic<std::uint64_t> sent_here;  ///< To its own host, itself included.
    std::atomic<std::uint64_t> handled_here;
    std::atomic<std::uint64_t> handled_from_afar;
    /// Of the first rank of the host: eight times its number, plus Kind.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> order;
  };
  static constexpr std::size_t bytes_of(std::size_t num_hosts) {
    const std::size_t bytes = sizeof(Counts) + num_hosts * sizeof(std::atomic<std::uint64_t>);
    return (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
  }

  /// Sums over the first ranks of all hosts, in place, one at a time.
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
    std::size_t place = 0;               ///< This rank's.
    std::vector<std::uint32_t> host_of;  ///< By rank, 0 to hosts - 1.
    std::uint32_t own_host = 0;
    std::size_t num_hosts = 1;
    std::vector<Doorbell*> bells;  ///< By place, to wake sleeping ranks. None if none sleeps.
    std::unique_ptr<Sums> sums;    ///< Of the first rank, where there are several hosts.
  };
  explicit TerminationDetector(Setup setup);

  // --- Counting, at all times ---
  void note_send(Rank dst) {
    const std::uint32_t host = setup_.host_of[static_cast<std::size_t>(dst)];
    if (host == setup_.own_host) return;
    ++sent_to_host_[host];
    ++sent_afar_;
  }
  /// During a poll for messages of other hosts: counts what it handles, whatever it throws.
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
  /// Bulk data of this host may come the same way.
  void note_bulk_from(Rank src) {
    if (looks_afar_ && setup_.host_of[static_cast<std::size_t>(src)] == setup_.own_host) --handled_from_afar_;
  }

  // --- One quiesce(), from enter() to done ---
  enum class Kind : std::uint8_t { go, take, wait, question, done };
  struct Order {
    std::uint64_t number;
    Kind kind;
  };
  /// What was to be sent first has been. sent, handled: of this rank since it began, to and from all.
  void enter(std::uint64_t sent, std::uint64_t handled);
  Order order() const;
  void publish(std::uint64_t sent, std::uint64_t handled);
  /// Publish first. The first call for an order counts.
  void follow(Order go);
  void answer(Order question, bool nothing_left);
  bool has_followed(Order go) const { return followed_ >= go.number; }
  bool has_answered(Order question) const { return answered_ >= question.number; }
  void leave(Order done) { last_done_ = done.number; }
  /// Before and after a nap. Publish first. In between this rank takes nothing in, and before it does, it looks for an order.
  void rest(bool nothing_left);
  void wake_up();
  /// Whether ranks outnumber cores here, so that waiting ranks should sleep.
  bool may_sleep() const { return !setup_.bells.empty(); }
  bool is_leader() const { return setup_.place == 0; }
  bool is_on_one_host() const { return setup_.num_hosts == 1; }
  /// The first rank takes the next step, if it can.
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
  std::uint64_t published_ = 0;  // sent and handled, together
  std::uint64_t last_done_ = 0;  // the order that ended the last quiesce()
  std::uint64_t followed_ = 0;
  std::uint64_t answered_ = 0;
  // Of the first rank.
  State state_ = State::gathering;
  std::uint64_t number_ = 0;  // of the newest order
  bool owes_wave_ = false;
  bool is_dry_ = false;
  std::uint64_t expected_ = 0;      // messages from other hosts that were sent before the last wave
  std::int64_t sent_before_ = -1;   // by all hosts, before the last wave
  std::vector<std::int64_t> wave_;  // by host: messages to it; by all; hosts that did not come dry
};

}  // namespace nuice::am
