// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads of one process, with the rings that shared memory uses too. If they run one at a time, a
// baton goes round: its holder runs until it finds nothing to do (or loses a draw after a send), and a seeded
// draw determines the next holder.
#include "nuice/am/loopback.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "am/endpoint_core.hpp"
#include "am/transport/doorbell.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice::am {
namespace {

/// If ranks pass the baton this many times without any event, this counts as a deadlock.
constexpr std::uint64_t idle_rounds_max = 20000;
/// If ranks run one at a time, a rank passes the baton after this number of sends on average.
constexpr std::uint64_t sends_per_switch = 8;

/// The exception that ends the other ranks when a rank has failed.
class Stopped : public TransportError {
 public:
  Stopped() : TransportError(ErrorCode::state, "another rank of the loop-back run has failed") {}
};

class Hub {
 public:
  explicit Hub(const LoopbackOptions& options)
      : options_(options),
        num_(static_cast<std::size_t>(options.num_ranks)),
        controls_(num_ * num_),
        words_(num_ * num_ * options.ring_bytes / sizeof(std::uint64_t), 0),
        bells_(num_),
        tallies_(options.ranks_per_host > 0
                     ? num_ * TerminationDetector::bytes_of(num_hosts()) / cache_line_bytes
                     : 0),
        wake_(num_),
        live_(num_, true),
        random_(options.seed) {}

  const LoopbackOptions& options() const { return options_; }
  RingControl* control(Rank src, Rank dst) { return &controls_[pair(src, dst)]; }
  std::byte* data(Rank src, Rank dst) {
    return reinterpret_cast<std::byte*>(words_.data()) + pair(src, dst) * options_.ring_bytes;
  }
  Doorbell* bell(Rank rank) { return &bells_[static_cast<std::size_t>(rank)]; }

  std::uint32_t host_of(Rank rank) const {
    return static_cast<std::uint32_t>(rank / options_.ranks_per_host);
  }
  std::size_t num_hosts() const { return host_of(options_.num_ranks - 1) + std::size_t{1}; }
  std::byte* counts_of(Rank rank) {
    return reinterpret_cast<std::byte*>(tallies_.data()) +
           static_cast<std::size_t>(rank) * TerminationDetector::bytes_of(num_hosts());
  }

  /// Waits for the rank's first turn.
  void begin(Rank rank) {
    if (options_.concurrent) return;
    std::unique_lock lock(mutex_);
    wait_for_turn(rank, lock);
  }

  /// Records that something happened, so there is no deadlock.
  void note_event() {
    if (!options_.concurrent) idle_ = 0;
  }

  /// Lets other ranks run. idle: whether this rank found nothing to do.
  void pass(Rank rank, bool idle) {
    if (options_.concurrent) {
      if (failed_) throw Stopped{};
      if (idle) std::this_thread::yield();
      return;
    }
    std::unique_lock lock(mutex_);
    if (idle && ++idle_ > idle_rounds_max * num_) {
      deadlock_ = true;
      fail(lock);
    }
    if (failed_) throw Stopped{};
    give_to_next();
    wait_for_turn(rank, lock);
  }

  bool draws_switch() { return !options_.concurrent && random_.below(sends_per_switch) == 0; }

  void end(Rank rank, bool with_error) {
    std::unique_lock lock(mutex_);
    live_[static_cast<std::size_t>(rank)] = false;
    if (with_error) fail(lock);
    if (!options_.concurrent) give_to_next();
  }

  bool deadlock() const { return deadlock_; }

  struct Reduction {
    std::array<std::int64_t, Transport::max_reduced> values{};
    std::size_t arrived = 0;
  };
  void start_reduce(std::uint64_t number, ReduceOp op, std::span<const std::int64_t> values) {
    const std::scoped_lock lock(reduce_mutex_);
    note_event();
    Reduction& reduction = reductions_[number % 2];
    if (reduction.arrived == num_) reduction.arrived = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t& value = reduction.values[i];
      if (reduction.arrived == 0) {
        value = values[i];
      } else {
        value = op == ReduceOp::sum ? value + values[i] : std::max(value, values[i]);
      }
    }
    ++reduction.arrived;
  }
  /// Every rank is in the same reduction or in the next one, so two places are enough.
  bool test_reduce(std::uint64_t number, std::span<std::int64_t> result) {
    const std::scoped_lock lock(reduce_mutex_);
    const Reduction& reduction = reductions_[number % 2];
    if (reduction.arrived != num_) return false;
    std::copy_n(reduction.values.begin(), result.size(), result.begin());
    return true;
  }

  /// Sums over the hosts' first ranks; two places are enough, as in test_reduce().
  void start_sum(std::uint64_t number, std::span<const std::int64_t> values) {
    const std::scoped_lock lock(reduce_mutex_);
    note_event();
    Sum& sum = sums_[number % 2];
    if (sum.arrived == num_hosts()) sum.arrived = 0;
    if (sum.arrived++ == 0) sum.values.assign(values.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) sum.values[i] += values[i];
  }
  bool test_sum(std::uint64_t number, std::span<std::int64_t> result) {
    const std::scoped_lock lock(reduce_mutex_);
    const Sum& sum = sums_[number % 2];
    if (sum.arrived != num_hosts()) return false;
    std::ranges::copy(sum.values, result.begin());
    return true;
  }

 private:
  struct alignas(cache_line_bytes) Line {
    std::array<std::byte, cache_line_bytes> bytes{};
  };
  struct Sum {
    std::vector<std::int64_t> values;
    std::size_t arrived = 0;
  };
  std::size_t pair(Rank src, Rank dst) const {
    return static_cast<std::size_t>(src) * num_ + static_cast<std::size_t>(dst);
  }
  void fail(std::unique_lock<std::mutex>& /*held*/) {
    failed_ = true;
    for (auto& wake : wake_) wake.notify_all();
  }
  void wait_for_turn(Rank rank, std::unique_lock<std::mutex>& lock) {
    wake_[static_cast<std::size_t>(rank)].wait(lock, [&] { return turn_ == rank || failed_; });
    if (failed_) throw Stopped{};
  }
  void give_to_next() {
    const auto num_live = static_cast<std::size_t>(std::ranges::count(live_, true));
    if (num_live == 0) return;
    std::size_t steps = random_.below(num_live);
    std::size_t next = 0;
    for (;; ++next)
      if (live_[next] && steps-- == 0) break;
    turn_ = static_cast<Rank>(next);
    wake_[next].notify_one();
  }

  LoopbackOptions options_;
  std::size_t num_;
  std::vector<RingControl> controls_;
  std::vector<std::uint64_t> words_;
  std::vector<Doorbell> bells_;
  std::vector<Line> tallies_;
  std::mutex mutex_;
  std::vector<std::condition_variable> wake_;
  std::vector<bool> live_;
  Rank turn_ = 0;
  std::uint64_t idle_ = 0;
  bool deadlock_ = false;
  std::atomic<bool> failed_ = false;
  Random random_;
  std::mutex reduce_mutex_;
  std::array<Reduction, 2> reductions_;
  std::array<Sum, 2> sums_;
};

class SumsOfHub : public TerminationDetector::Sums {
 public:
  explicit SumsOfHub(Hub& hub) : hub_(hub) {}
  void start(std::span<std::int64_t> values) override {
    values_ = values;
    hub_.start_sum(++number_, values);
  }
  bool test() override { return hub_.test_sum(number_, values_); }

 private:
  Hub& hub_;
  std::uint64_t number_ = 0;
  std::span<std::int64_t> values_;
};

class LoopbackTransport : public Transport {
 public:
  LoopbackTransport(Hub& hub, Rank rank) : hub_(hub), rank_(rank) {
    const std::size_t capacity = hub.options().ring_bytes;
    for (Rank other = 0; other < hub.options().num_ranks; ++other) {
      to_.emplace_back(hub.control(rank, other), hub.data(rank, other), capacity, hub.bell(other));
      from_.emplace_back(hub.control(other, rank), hub.data(other, rank), capacity);
    }
    if (hub.options().ranks_per_host > 0) make_detector();
  }

  std::string name() const override { return "loopback"; }
  Rank rank() const override { return rank_; }
  Rank num_ranks() const override { return hub_.options().num_ranks; }
  std::size_t max_message_bytes() const override { return ring_max_payload(hub_.options().ring_bytes); }

  bool try_send(Rank dst, Header header, std::span<const std::byte> a,
                std::span<const std::byte> b) override {
    if (hub_.draws_switch()) hub_.pass(rank_, false);
    if (!to_[static_cast<std::size_t>(dst)].try_push(header, a.data(), a.size(), b.data(), b.size()))
      return false;
    hub_.note_event();
    return true;
  }

  int poll(Inbox& inbox, int limit) override {
    int handled = 0;
    for (Rank src = 0; src < num_ranks(); ++src) {
      const TerminationDetector::FromAfar counting(shares_host(src) ? nullptr : detector_.get(),
                                                   inbox.core().handled_);
      handled += from_[static_cast<std::size_t>(src)].poll(
          limit,
          [&](Header header, const std::byte* payload) { inbox.core().deliver(src, header, payload); });
    }
    if (handled == 0) {
      hub_.pass(rank_, true);
    } else {
      hub_.note_event();
    }
    return handled;
  }

  RingProducer* ring_to(Rank dst) override {
    return hub_.options().concurrent && shares_host(dst) ? &to_[static_cast<std::size_t>(dst)] : nullptr;
  }
  bool oversubscribed() const override { return true; }
  void yield() override { hub_.pass(rank_, true); }
  bool allows_threads() const override { return hub_.options().concurrent; }

  void start_reduce(ReduceOp op, std::span<const std::int64_t> values) override {
    hub_.start_reduce(++reductions_, op, values);
  }
  bool test_reduce(std::span<std::int64_t> result) override { return hub_.test_reduce(reductions_, result); }
  TerminationDetector* termination_detector() override { return detector_.get(); }

  bool arm_doorbell(int signal) override {
    if (!hub_.options().concurrent || !allow_doorbells()) return false;
    signal_ = signal;
    arm(*hub_.bell(rank_), signal);
    return true;
  }
  void rearm_doorbell() override { rearm(*hub_.bell(rank_), signal_); }
  void disarm_doorbell() override {
    signal_ = 0;
    disarm(*hub_.bell(rank_));
  }
  /// If ranks run one at a time, a nap ends when the other ranks have run.
  bool sleep(double seconds, const std::function<bool()>& is_ready) override {
    if (hub_.options().ranks_per_host == 0 || signal_ != 0) return false;
    if (hub_.options().concurrent) {
      sleep_on(*hub_.bell(rank_), seconds, is_ready);
    } else if (!is_ready()) {
      hub_.pass(rank_, true);
    }
    return true;
  }
  int poll_from_signal(Inbox& inbox) override {
    int handled = 0;
    for (Rank src = 0; src < num_ranks(); ++src)
      handled += from_[static_cast<std::size_t>(src)].poll_while(
          1000, [&](Header header) { return inbox.core().takes_in_signal(header); },
          [&](Header header, const std::byte* payload) { inbox.core().deliver(src, header, payload); });
    return handled;
  }

 private:
  bool shares_host(Rank other) const {
    return hub_.options().ranks_per_host == 0 || hub_.host_of(other) == hub_.host_of(rank_);
  }
  void make_detector() {
    TerminationDetector::Setup setup;
    setup.own_host = hub_.host_of(rank_);
    for (Rank rank = 0; rank < num_ranks(); ++rank) {
      setup.host_of.push_back(hub_.host_of(rank));
      if (hub_.host_of(rank) != setup.own_host) continue;
      if (rank == rank_) setup.place = setup.counts.size();
      setup.counts.push_back(hub_.counts_of(rank));
      setup.bells.push_back(hub_.bell(rank));
    }
    setup.num_hosts = hub_.num_hosts();
    if (setup.place == 0) setup.sums = std::make_unique<SumsOfHub>(hub_);
    detector_ = std::make_unique<TerminationDetector>(std::move(setup));
  }

  Hub& hub_;
  Rank rank_;
  std::unique_ptr<TerminationDetector> detector_;
  std::vector<RingProducer> to_;
  std::vector<RingConsumer> from_;
  std::uint64_t reductions_ = 0;
  int signal_ = 0;
};

void check(const LoopbackOptions& options) {
  if (options.num_ranks < 1)
    throw Error(ErrorCode::invalid_argument,
                "loop-back needs at least one rank, not " + std::to_string(options.num_ranks));
  if (options.ranks_per_host < 0)
    throw Error(ErrorCode::invalid_argument,
                "ranks_per_host is " + std::to_string(options.ranks_per_host) + ", not 0 or more");
  if (options.ring_bytes < 1024 || !std::has_single_bit(options.ring_bytes))
    throw Error(ErrorCode::invalid_argument,
                "ring_bytes must be a power of two from 1024, not " + std::to_string(options.ring_bytes));
}

}  // namespace

void run_loopback(const LoopbackOptions& options,
                  const std::function<void(std::unique_ptr<Transport>)>& program) {
  check(options);
  Hub hub(options);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(options.num_ranks));
  const auto run_rank = [&](Rank rank) {
    bool with_error = false;
    try {
      hub.begin(rank);
      program(std::make_unique<LoopbackTransport>(hub, rank));
    } catch (const Stopped&) {
      // The other rank's error is reported.
    } catch (...) {
      errors[static_cast<std::size_t>(rank)] = std::current_exception();
      with_error = true;
    }
    hub.end(rank, with_error);
  };
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < options.num_ranks; ++rank) threads.emplace_back(run_rank, rank);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  if (hub.deadlock()) throw Error(ErrorCode::state, "loop-back: deadlock, every rank waits for another");
}

}  // namespace nuice::am
