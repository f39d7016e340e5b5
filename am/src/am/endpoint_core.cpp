// SPDX-License-Identifier: BSD-3-Clause
// Sending and progress. A send that finds no room waits while polling in the main program, and is kept in
// deferred_ inside a handler. No handler ever waits, so every waiting rank receives messages, and a cycle of
// full rings cannot block.
#include "am/endpoint_core.hpp"

#include <bit>
#include <limits>

#include "am/noting_failure.hpp"
#include "nuice/am/coalescer.hpp"
#include "nuice/core/error.hpp"

namespace nuice::am {
namespace {

/// The number of consecutive empty polls before a waiting loop yields the core. It is small if ranks compete
/// for cores. Otherwise the polls take about a millisecond, because the system may give a yielded core back
/// late.
constexpr unsigned patience = 50000;
constexpr unsigned patience_oversubscribed = 16;

std::size_t self_ring_bytes(std::size_t max_message) {
  return std::bit_ceil(4 * (max_message + 2 * sizeof(Header)));
}

}  // namespace

EndpointCore::EndpointCore(Endpoint& endpoint, std::unique_ptr<Transport> transport,
                           const EndpointOptions& options)
    : endpoint_(endpoint),
      transport_(std::move(transport)),
      detector_(transport_->termination_detector()),
      rank_(transport_->rank()),
      num_ranks_(transport_->num_ranks()),
      max_message_bytes_(transport_->max_message_bytes()),
      options_(options),
      inbox_(*this),
      poll_period_(options.poll_every > 0 ? static_cast<std::uint64_t>(options.poll_every)
                                          : std::numeric_limits<std::uint64_t>::max()),
      sends_to_poll_(poll_period_),
      self_(self_ring_bytes(max_message_bytes_)) {
  if (options.poll_every < 0 || options.poll_limit < 1)
    throw Error(ErrorCode::invalid_argument, "poll_every must be at least 0 and poll_limit at least 1");
  if (!(options.watchdog_s >= 0))
    throw Error(ErrorCode::invalid_argument,
                "watchdog_s is " + std::to_string(options.watchdog_s) + ", not 0 or more");
  add_internal_handlers();
  add_failure_handlers();
}

Stats EndpointCore::stats() {
  const Entry entry(*this);
  Stats stats = stats_;
  stats.sent = sent_;
  stats.handled = handled_;
  return stats;
}

void EndpointCore::must_not_be_in_handler(const char* call) const {
  if (in_progress_)
    throw Error(ErrorCode::state, std::string(call) + " was called inside a handler on rank " +
                                      std::to_string(rank_) + ": a handler may not wait");
}

void EndpointCore::check_sendable(Rank dst, std::size_t bytes) const {
  if (!sealed_) throw Error(ErrorCode::state, "rank " + std::to_string(rank_) + " sends before seal()");
  if (dst < 0 || dst >= num_ranks_)
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank_) + " sends to rank " +
                                                 std::to_string(dst) + " of " + std::to_string(num_ranks_));
  if (bytes > max_message_bytes_)
    throw Error(ErrorCode::invalid_argument, "a message of " + std::to_string(bytes) + " bytes from rank " +
                                                 std::to_string(rank_) + " to rank " + std::to_string(dst) +
                                                 "; at most " + std::to_string(max_message_bytes_) +
                                                 " are possible (put sends more)");
}

bool EndpointCore::try_post(Rank dst, Header header, std::span<const std::byte> a, Tail tail) {
  // Failures are reported also before seal(). The ring is then looked up here.
  if (RingProducer* const ring = sealed_ ? rings_[static_cast<std::size_t>(dst)] : transport_->ring_to(dst))
    return ring->try_push(header, a.data(), a.size(), tail.data(), tail.size());
  if (guards_.in_signal) return false;  // MPI and UCX must not be called there
  return noting_failure([&] { return transport_->try_send(dst, header, a, tail); });
}

bool EndpointCore::handled_at_once(Header header, const std::byte* payload) {
  if (in_progress_ || !self_.consumer.empty() || must_stay_behind(rank_)) return false;
  const Flag running(in_progress_);
  ++sent_;
  deliver(rank_, header, payload);
  return true;
}

void EndpointCore::defer(Rank dst, Header header, std::span<const std::byte> a, Tail tail) {
  if (guards_.in_signal && keep_in_signal(dst, header, a, tail)) return;
  Message message{header, {}, ++last_deferred_};
  message.payload.reserve(a.size() + tail.size());
  message.payload.insert(message.payload.end(), a.begin(), a.end());
  message.payload.insert(message.payload.end(), tail.begin(), tail.end());
  deferred_[dst].push_back(std::move(message));
  stats_.most_deferred = std::max(stats_.most_deferred, ++num_deferred_);
}

void EndpointCore::post_outside(Rank dst, Header header, std::span<const std::byte> a, Tail tail) {
  const auto to = static_cast<std::size_t>(dst);
  if (to < rings_.size() && rings_[to] == nullptr && num_deferred_ == 0 && !guarded_ &&
      a.size() + tail.size() <= max_message_bytes_ &&
      noting_failure([&] { return transport_->try_send(dst, header, a, tail); })) [[likely]] {
    count_send_to(dst);
  } else {
    post_slowly(dst, header, a, tail);
  }
}

void EndpointCore::post_slowly(Rank dst, Header header, std::span<const std::byte> a, Tail tail) {
  check_sendable(dst, a.size() + tail.size());
  FirstError error;
  if (must_stay_behind(dst) || !try_post(dst, header, a, tail)) {
    if (kept_ && kept_->used != 0 && !in_progress_) sort_kept();
    defer(dst, header, a, tail);
    if (!in_progress_) {  // messages of handlers that run in this poll come after this message
      ++stats_.stalls;
      error.of([&, number = last_deferred_] { wait_until([&] { return has_left(dst, number); }); });
    }
  }
  error.of([&] { count_send_to(dst); });
  error.rethrow();
}

bool EndpointCore::has_left(Rank dst, std::uint64_t number) const {
  const auto kept = deferred_.find(dst);
  return kept == deferred_.end() || kept->second.front().number > number;
}

void EndpointCore::send_deferred() {
  if (kept_ && kept_->used != 0) sort_kept();
  for (auto entry = deferred_.begin(); entry != deferred_.end();) {
    auto& [dst, messages] = *entry;
    while (!messages.empty() && try_post(dst, messages.front().header, messages.front().payload, {})) {
      messages.pop_front();
      --num_deferred_;
    }
    entry = messages.empty() ? deferred_.erase(entry) : std::next(entry);
  }
}

int EndpointCore::take_in() {
  const Flag running(in_progress_);
  int handled = noting_failure([this] { return transport_->poll(inbox_, options_.poll_limit); });
  handled += self_.consumer.poll(options_.poll_limit, [this](Header header, const std::byte* payload) {
    deliver(rank_, header, payload);
  });
  // Sends without waiting, as a handler does. If there is no room, messages are kept, in order.
  if (!coalescers_.empty()) age_coalescers();
  return handled;
}

int EndpointCore::progress() {
  if (guards_.error) std::rethrow_exception(std::exchange(guards_.error, nullptr));
  throw_failure();
  if (num_deferred_ != 0) send_deferred();
  const int handled = take_in();
  throw_failure();  // another rank has reported a failure
  return handled;
}

void EndpointCore::progress_or_idle() {
  if (progress() != 0) {
    empty_polls_ = 0;
    look_now_and_then(true);
  } else {
    idle();
  }
}

void EndpointCore::idle() {
  if (++empty_polls_ > (transport_->oversubscribed() ? patience_oversubscribed : patience)) {
    transport_->yield();
    look_for_failures(true);
  } else {
    look_now_and_then(true);
  }
}

int EndpointCore::poll() {
  const Entry entry(*this);
  must_not_be_in_handler("poll");
  const int handled = progress();
  if (handled != 0) {
    empty_polls_ = 0;
  } else if (++empty_polls_ > patience_oversubscribed && transport_->oversubscribed()) {
    transport_->yield();
  }
  look_now_and_then(false);
  return handled;
}

void EndpointCore::poll_until(bool (*done)(void*), void* context) {
  for (bool is_first = true; !done(context); is_first = false) {
    const Entry entry(*this);
    must_not_be_in_handler("waiting");
    if (is_first) begin_wait();
    progress_or_idle();
  }
}

void EndpointCore::age_coalescers() {
  for (CoalescerBase* coalescer : coalescers_) coalescer->flush_if_old();
}

std::exception_ptr EndpointCore::flush_coalescers() {
  FirstError error;
  for (std::size_t next = 0; next < coalescers_.size();) {  // a handler may add a coalescer
    CoalescerBase* const coalescer = coalescers_[next++];
    error.of([&] { coalescer->flush(); });
  }
  return error.get();
}

void EndpointCore::throw_later(std::exception_ptr error) {
  const Entry entry(*this);
  if (!guards_.error) guards_.error = std::move(error);
}

void EndpointCore::run_batch(Rank src, std::uint16_t handler, Tail items) {
  if (handler >= rows_.size() || rows_[handler].is_call || src < 0 || src >= num_ranks_)
    reject(src, {.handler = handler, .kind = Kind::batch});
  Context context(endpoint_, src);
  rows_[handler].run_batch(rows_[handler].function, context, items.data(), items.size());
}

void EndpointCore::reject(Rank src, Header header) const {
  const std::string of = "a message from rank " + std::to_string(src) + " to rank " + std::to_string(rank_) +
                         " names handler " + std::to_string(header.handler);
  if (header.handler >= rows_.size())
    throw Error(ErrorCode::mismatch, of + ", but " + std::to_string(rows_.size()) + " are registered");
  throw Error(ErrorCode::mismatch,
              of + " (" + names_.names[header.handler] + "), which does not take this kind of message");
}

void Context::replied_twice() {
  throw Error(ErrorCode::state, "a handler replied a second time; send() has no such limit");
}

void detail::wrong_size(const Context& context, std::size_t expected, std::size_t bytes, bool or_more) {
  throw Error(ErrorCode::mismatch, "a message from rank " + std::to_string(context.source()) + " to rank " +
                                       std::to_string(context.endpoint().rank()) + " has " +
                                       std::to_string(bytes) + " bytes where its handler takes " +
                                       std::to_string(expected) + (or_more ? " or more" : ""));
}

}  // namespace nuice::am
