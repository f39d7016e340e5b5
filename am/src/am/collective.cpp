// SPDX-License-Identifier: BSD-3-Clause
// The collective calls of an endpoint: seal, barrier, quiesce.
#include <algorithm>
#include <array>
#include <chrono>

#include "am/endpoint_core.hpp"
#include "am/noting_failure.hpp"
#include "nuice/am/coalescer.hpp"
#include "nuice/core/error.hpp"

namespace nuice::am {
namespace {

/// Decides when and how long a rank sleeps in quiesce(). To check for messages from other hosts, a rank makes
/// a system call over dozens of connections. If ranks outnumber cores, this takes a core from a rank that has
/// work. With 32 ranks on two cores, checks every 0.25 ms made a quiesce() three times as long as it is with
/// these naps. A message from the rank's own host ends a nap.
class Naps {
 public:
  Naps(bool leads, bool is_on_one_host) : leads_(leads), is_on_one_host_(is_on_one_host) {}

  /// Starts an order. If ranks have work, the leader wakes them all. If a wave ends with messages missing,
  /// naps are short after it, because these messages will arrive soon.
  void begin(TerminationDetector::Kind order) {
    order_ = order;
    begun_ = Clock::now();
    if (!leads_) next_s_ = order == TerminationDetector::Kind::take ? first_for_missing_s : longest_s;
    finds_ = 0;
  }
  /// Returns whether the rank may sleep now. Inside a host every step takes only microseconds, if the rank
  /// that makes the step has a core.
  bool is_time() const {
    if (is_on_one_host_) return !leads_ && order_ == TerminationDetector::Kind::question;
    return !leads_ || Clock::now() - begun_ > leader_stays_awake;
  }
  /// Called when a check has found messages. If several checks in a row have found messages, a partner
  /// probably waits for this rank each time (round trips), so naps become shorter.
  void found() {
    if (leads_ || ++finds_ < finds_to_halve) return;
    finds_ = 0;
    next_s_ = std::max(next_s_ / 2, shortest_s);
  }
  void found_nothing() { finds_ = 0; }
  double seconds() const { return next_s_; }
  void over() {
    if (!leads_) next_s_ = std::min(2 * next_s_, longest_s);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto leader_stays_awake = std::chrono::milliseconds(1);
  static constexpr double longest_s = 2e-3;  // MPI must make progress for this rank
  static constexpr double shortest_s = 50e-6;
  static constexpr double first_for_missing_s = 250e-6;
  static constexpr double of_leader_s = 20e-6;  // the system sleeps 70 us in fact; a wave takes some 100 us
  static constexpr int finds_to_halve = 4;
  bool leads_;
  bool is_on_one_host_;
  TerminationDetector::Kind order_ = TerminationDetector::Kind::go;
  Clock::time_point begun_;
  double next_s_ = leads_ ? of_leader_s : longest_s;
  int finds_ = 0;
};

void throw_if(const std::exception_ptr& error) {
  if (error) std::rethrow_exception(error);
}

}  // namespace

std::uint16_t EndpointCore::add_row(std::string_view name, std::size_t argument_bytes,
                                    std::size_t result_bytes, bool tail, detail::HandlerRow row,
                                    std::shared_ptr<void> function) {
  const Entry entry(*this);
  if (sealed_) throw Error(ErrorCode::state, "handler " + std::string(name) + " was registered after seal()");
  if (rows_.size() >= UINT16_MAX) throw Error(ErrorCode::limit, "more than 65535 handlers");
  if (argument_bytes + sizeof(CallTag) > max_message_bytes_ ||
      result_bytes + 2 * sizeof(CallTag) > max_message_bytes_)
    throw Error(ErrorCode::limit, "the argument or result of handler " + std::string(name) +
                                      " is larger than " + std::to_string(max_message_bytes_) + " bytes");
  const auto mix = [this](std::uint64_t value) { names_.hash = (names_.hash ^ value) * 0x100000001b3U; };
  for (const char c : name) mix(static_cast<unsigned char>(c));
  mix(argument_bytes);
  mix(result_bytes);
  mix((tail ? 2U : 0U) + (row.is_call ? 1U : 0U) + 256U);
  names_.names.emplace_back(name);
  names_.functions.push_back(std::move(function));
  rows_.push_back(row);
  return static_cast<std::uint16_t>(rows_.size() - 1);
}

// An error of a handler must not leave a reduction half done, and this rank must not be missing in the next
// reduction. So the error is returned, and the caller throws it when the collective call is complete.
std::exception_ptr EndpointCore::reduce_into(ReduceOp op, std::span<const std::int64_t> values,
                                             std::span<std::int64_t> result, bool polling) {
  FirstError error;
  throw_failure();
  begin_wait();
  noting_failure([&] { transport_->start_reduce(op, values); });
  do {  // polls at least once; a single rank has its result at once
    if (polling) {
      error.of([this] { progress_or_idle(); });
    } else {
      idle();
    }
  } while (!noting_failure([&] { return transport_->test_reduce(result); }));
  empty_polls_ = 0;
  return error.get();
}

std::exception_ptr EndpointCore::try_reduce(ReduceOp op, std::span<const std::int64_t> values,
                                            std::span<std::int64_t> result) {
  const Entry entry(*this);
  must_not_be_in_handler("reduce");
  if (values.size() > Transport::max_reduced)
    throw Error(ErrorCode::invalid_argument, "reduce takes at most " +
                                                 std::to_string(Transport::max_reduced) + " values, not " +
                                                 std::to_string(values.size()));
  return reduce_into(op, values, result, true);
}

std::vector<std::int64_t> EndpointCore::reduce(ReduceOp op, std::span<const std::int64_t> values) {
  std::vector<std::int64_t> result(values.size());
  throw_if(try_reduce(op, values, result));
  return result;
}

// Runs no handlers, because ranks that have already completed seal() may send messages.
void EndpointCore::seal() {
  const Entry entry(*this);
  must_not_be_in_handler("seal");
  if (sealed_) throw Error(ErrorCode::state, "seal() was called twice");
  const auto mine = static_cast<std::int64_t>(names_.hash >> 2);
  const std::array<std::int64_t, 1> first = {rank_ == 0 ? mine : 0};
  std::array<std::int64_t, 1> of_rank_0{};
  reduce_into(ReduceOp::sum, first, of_rank_0, false);
  const std::array<std::int64_t, 1> differs = {mine != of_rank_0[0] ? -rank_ : -num_ranks_};
  std::array<std::int64_t, 1> lowest{};
  reduce_into(ReduceOp::max, differs, lowest, false);
  if (-lowest[0] < num_ranks_)
    throw Error(ErrorCode::mismatch,
                "rank " + std::to_string(-lowest[0]) +
                    " registered other handlers than rank 0 (names, sizes or their order)");
  rings_.assign(static_cast<std::size_t>(num_ranks_), nullptr);
  for (Rank dst = 0; dst < num_ranks_; ++dst)
    rings_[static_cast<std::size_t>(dst)] = dst == rank_ ? &self_.producer : transport_->ring_to(dst);
  sealed_ = true;
}

void EndpointCore::barrier() {
  const Entry entry(*this);
  must_not_be_in_handler("barrier");
  throw_if(reduce_into(ReduceOp::sum, {}, {}, true));
}

// Sums the counts of sent and handled messages in waves. If the sum of handled messages in one wave equals
// the sum of sent messages in the next, no message was in flight in between (Mattern's four counters). The
// barrier at the end runs no handlers. So a rank that has passed the barrier knows that no rank still
// receives messages, and its next messages are handled after the other ranks' quiesce().
std::exception_ptr EndpointCore::try_quiesce() {
  const Entry entry(*this);
  must_not_be_in_handler("quiesce");
  if (detector_ != nullptr) return quiesce_by(*detector_);
  std::array<std::int64_t, 2> before = {-1, -2};
  FirstError error;
  for (;;) {
    error.add(flush_coalescers());
    const std::array<std::int64_t, 2> mine = {static_cast<std::int64_t>(sent_),
                                              static_cast<std::int64_t>(handled_)};
    std::array<std::int64_t, 2> all{};
    error.add(reduce_into(ReduceOp::sum, mine, all, true));
    if (before[1] == all[0] && all[0] == all[1]) break;
    before = all;
  }
  reduce_into(ReduceOp::sum, {}, {}, false);
  return error.get();
}

bool EndpointCore::has_nothing_left() const {
  return num_deferred_ == 0 && !(kept_ && kept_->used != 0) &&
         std::ranges::none_of(coalescers_, [](const CoalescerBase* c) { return c->has_items(); });
}

/// Returns false if this rank may not sleep now. In this case it has waited like idle().
bool EndpointCore::sleep(TerminationDetector& detector, TerminationDetector::Order newest, double seconds) {
  bool has_slept = false;
  if (num_deferred_ == 0) {
    detector.rest(has_nothing_left());
    has_slept = transport_->sleep(seconds, [&] { return detector.order().number != newest.number; });
    detector.wake_up();
  }
  if (has_slept) {
    look_for_failures(true);
  } else {
    idle();
  }
  return has_slept;
}

// A rank that follows a `go` order sends without waiting, as a handler does, because other ranks of its host
// wait for it.
std::exception_ptr EndpointCore::quiesce_by(TerminationDetector& detector) {
  FirstError error;
  error.add(flush_coalescers());
  throw_failure();
  begin_wait();
  detector.enter(sent_, handled_);
  std::uint64_t flushed_at = handled_;
  Naps naps(detector.is_leader(), detector.is_on_one_host());
  const auto nap = [&](TerminationDetector::Order newest) {
    // the conditions are in this order because reading the clock takes longer than one iteration of a
    // spinning rank
    if (!detector.may_sleep() || !naps.is_time()) {
      idle();
    } else if (sleep(detector, newest, naps.seconds())) {
      naps.over();
    }
  };
  for (std::uint64_t newest = 0;;) {
    detector.lead();
    const TerminationDetector::Order order = detector.order();
    if (order.number != newest) naps.begin(order.kind);
    newest = order.number;
    if (order.kind == TerminationDetector::Kind::done) {
      detector.leave(order);
      break;
    }
    if (order.kind == TerminationDetector::Kind::question) {
      if (!detector.has_answered(order)) {
        detector.publish(sent_, handled_);
        detector.answer(order, has_nothing_left());
      }
      nap(order);
      continue;
    }
    if (order.kind == TerminationDetector::Kind::go && !detector.has_followed(order)) {
      const Flag sending(in_progress_);
      error.add(flush_coalescers());
      detector.publish(sent_, handled_);
      detector.follow(order);
    }
    const std::uint64_t before = handled_;
    error.of([this] { progress(); });
    if (handled_ != before) {
      naps.found();
      empty_polls_ = 0;
      look_now_and_then(true);
    } else if (handled_ != flushed_at && detector.is_on_one_host()) {
      const Flag sending(in_progress_);
      error.add(flush_coalescers());
      flushed_at = handled_;
    } else {
      naps.found_nothing();
      nap(order);
    }
    detector.publish(sent_, handled_);
  }
  empty_polls_ = 0;
  return error.get();
}

}  // namespace nuice::am
