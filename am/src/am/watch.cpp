// SPDX-License-Identifier: BSD-3-Clause
// Ends the wait for a rank that never answers. Every waiting call checks about once per millisecond for three
// reasons:
//
// * a death: the transport knows that a rank is dead, because MPI reports it, or the process of a rank of
//   this host has ended
// * the watchdog: this rank has made no progress for EndpointOptions::watchdog_s; a roll call finds the ranks
//   that do not answer
// * an orphan: the launcher of the ranks has ended, and this rank has made no progress for two seconds
//
// A rank that gives up tells all other ranks, which then throw the same error. This covers two cases: a death
// on another host, which only ranks of that host can see, and a rank that waits for a rank that has given up.
// No step waits for another rank. If there is no room for a message, it is not sent, because the other ranks
// can notice the failure in the same ways.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string_view>

#include "am/endpoint_core.hpp"
#include "am/noting_failure.hpp"
#include "core/support/watchdog.hpp"
#include "nuice/core/error.hpp"

namespace nuice::am {
namespace {

constexpr double look_period_s = 1e-3;
constexpr double orphan_patience_s = 2;
/// The time for the last messages to be sent.
constexpr double farewell_s = 0.002;
/// The time to wait for the report of a death, after the death has made a call fail. Reports come within
/// milliseconds, if this rank has a core.
constexpr double news_time_s = 0.5;
/// The number of polls per look at the clock.
constexpr unsigned polls_per_look = 16;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string text_of(double limit_s) {
  const std::string text = std::to_string(limit_s);
  return text.substr(0, text.find('.') + 3);
}

struct FailureHead {
  std::int32_t code;
};

/// Keeps a transport that other ranks may still access, or that can be freed only together with them.
void leave_behind(std::unique_ptr<Transport> transport) {
  static std::mutex mutex;
  static auto* const left = new std::vector<std::unique_ptr<Transport>>();
  const std::scoped_lock lock(mutex);
  left->push_back(std::move(transport));
}

}  // namespace

EndpointCore::~EndpointCore() {
  if (has_failed_) leave_behind(std::move(transport_));
}

void EndpointCore::begin_wait() { watch_.quiet.restart(); }

void EndpointCore::look_now_and_then(bool is_waiting) {
  if (++looks_ % polls_per_look == 0) look_for_failures(is_waiting);
}

void EndpointCore::look_for_failures(bool is_waiting) {
  Watch& watch = watch_;
  const double now_s = seconds();
  if (now_s < watch.next_look_s) return;
  watch.next_look_s = now_s + look_period_s;
  const std::string me = "rank " + std::to_string(rank_);
  const std::vector<Rank> dead = transport_->dead_ranks();
  if (!dead.empty()) give_up(ErrorCode::mpi, me + " gives up; dead: " + names_of(dead));
  if (!is_waiting) return;
  const double limit_s = options_.watchdog_s;
  watch.quiet.look(static_cast<std::int64_t>(sent_ + handled_), now_s,
                   (limit_s > 0 ? limit_s : orphan_patience_s) / 10);
  const double quiet_s = watch.quiet.seconds();
  if (limit_s > 0 && quiet_s >= limit_s)
    time_out(me + " gives up after " + text_of(quiet_s) + " s without progress");
  if (quiet_s >= orphan_patience_s && transport_->is_orphan())
    give_up(ErrorCode::mpi, me + " gives up: its launcher is gone, and nothing moves");
}

/// Returns the other ranks that do not answer in time.
std::vector<Rank> EndpointCore::silent_ranks() {
  Watch& watch = watch_;
  watch.is_present.assign(static_cast<std::size_t>(num_ranks_), 0);
  watch.is_present[static_cast<std::size_t>(rank_)] = 1;
  for (Rank dst = 0; dst < num_ranks_; ++dst) {
    if (dst == rank_) continue;
    try {
      if (try_post(dst, internal_header(InternalHandler::roll_call), {}, {})) ++sent_;
    } catch (const Error&) {
      // A rank that cannot be reached will not answer.
    }
  }
  const auto all_answered = [&] { return std::ranges::find(watch.is_present, 0) == watch.is_present.end(); };
  for (AnswerTime time; !all_answered() && !time.is_over(seconds());)
    poll_blindly();  // a waiting rank answers at once
  std::vector<Rank> silent;
  for (Rank rank = 0; rank < num_ranks_; ++rank)
    if (watch.is_present[static_cast<std::size_t>(rank)] == 0) silent.push_back(rank);
  return silent;
}

/// Polls without reporting errors of handlers, because another error will be reported.
void EndpointCore::poll_blindly() noexcept {
  try {
    if (num_deferred_ != 0) send_deferred();
    if (take_in() == 0) transport_->yield();
  } catch (...) {
    return;
  }
}

void EndpointCore::time_out(const std::string& text) {
  const std::vector<Rank> silent = silent_ranks();
  throw_failure();  // the failure of another rank, received by now
  give_up(ErrorCode::timeout,
          text + (silent.empty() ? "; all ranks respond: probable deadlock (a message was never sent)"
                                 : "; no answer from " + names_of(silent)));
}

void EndpointCore::give_up(ErrorCode code, const std::string& text) {
  const TransportError error(code, text);
  fail(error, std::make_exception_ptr(error));
  throw TransportError(error);
}

/// Records a failure. Only the first failure is reported, here and on other ranks.
void EndpointCore::fail(const Error& error, std::exception_ptr why) noexcept {
  if (has_failed_) return;
  watch_.failure = std::move(why);
  has_failed_ = true;
  if (error.code() != ErrorCode::state)
    tell_of_failure(error);  // in a loop-back run all ranks know of the failure
}

/// Adds the dead ranks to the error. They may become known a moment after they have made a call fail.
void EndpointCore::give_up_after(const Error& error) {
  throw_failure();  // of another rank, received before: it names the cause
  std::vector<Rank> dead;
  if (error.code() == ErrorCode::mpi && !has_failed_)
    for (const double end_s = seconds() + news_time_s; dead.empty() && seconds() < end_s; sched_yield())
      dead = transport_->dead_ranks();
  if (!dead.empty()) give_up(error.code(), std::string(error.what()) + "; dead: " + names_of(dead));
  const std::vector<Rank> silent = in_progress_ || has_failed_ ? std::vector<Rank>() : silent_ranks();
  give_up(error.code(),
          error.what() + (silent.empty() ? std::string() : "; no answer from " + names_of(silent)));
}

void EndpointCore::tell_of_failure(const Error& error) noexcept {
  const FailureHead head{static_cast<std::int32_t>(error.code())};
  const std::string_view text(error.what());
  const auto bytes =
      std::as_bytes(std::span(text)).first(std::min(text.size(), max_message_bytes_ - sizeof head));
  for (Rank dst = 0; dst < num_ranks_; ++dst) {
    if (dst == rank_) continue;
    try {
      (void)try_post(dst, internal_header(InternalHandler::failure), std::as_bytes(std::span(&head, 1)),
                     bytes);
    } catch (...) {
      // A dead rank cannot receive the error.
    }
  }
  if (in_progress_) return;  // a handler may not poll
  for (const double end_s = seconds() + farewell_s; seconds() < end_s;) poll_blindly();
}

void EndpointCore::throw_failure() const {
  if (has_failed_) std::rethrow_exception(watch_.failure);
}

void EndpointCore::add_failure_handlers() {
  const auto add = [this](InternalHandler number, detail::HandlerRow::Run run) {
    internal_rows_[static_cast<std::size_t>(number)] = {run, nullptr, nullptr, false};
  };
  add(InternalHandler::roll_call, [](void*, Context& context, const std::byte*, std::size_t) {
    EndpointCore& core = context.endpoint().core();
    const Header present = internal_header(InternalHandler::present);
    if (core.sealed_) {
      core.post(context.source(), present, nullptr, 0, {});
    } else {  // other ranks may wait in seal() for a rank that does not answer
      (void)core.try_post(context.source(), present, {}, {});
    }
  });
  add(InternalHandler::present, [](void*, Context& context, const std::byte*, std::size_t) {
    std::vector<char>& is_present = context.endpoint().core().watch_.is_present;
    if (!is_present.empty()) is_present[static_cast<std::size_t>(context.source())] = 1;
  });
  add(InternalHandler::failure, [](void*, Context& context, const std::byte* payload, std::size_t bytes) {
    if (bytes < sizeof(FailureHead)) detail::wrong_size(context, sizeof(FailureHead), bytes, true);
    const auto head = detail::load<FailureHead>(payload);
    const std::string text(reinterpret_cast<const char*>(payload + sizeof head), bytes - sizeof head);
    EndpointCore& endpoint = context.endpoint().core();
    if (endpoint.has_failed_) return;
    endpoint.watch_.failure =
        std::make_exception_ptr(TransportError(static_cast<ErrorCode>(head.code), text));
    endpoint.has_failed_ = true;  // the call that makes progress throws it
  });
}

}  // namespace nuice::am
