// SPDX-License-Identifier: BSD-3-Clause
// Interrupts and the progress thread. With interrupts, `busy` counts the active calls of the endpoint and the
// masks of the thread. A signal that finds it above 0 only sets `pending`, which the last call or mask reads
// when it ends.
#include "nuice/am/progress.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "am/endpoint_core.hpp"
#include "nuice/core/error.hpp"

namespace nuice::am {
namespace {

thread_local EndpointCore* interruptible = nullptr;

}  // namespace

void EndpointCore::enter() {
  Guards& guards = guards_;
  if (guards.has_thread) guards.mutex.lock();
  guards.busy = guards.busy + 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void EndpointCore::leave() noexcept {
  Guards& guards = guards_;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guards.busy = guards.busy - 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (guards.busy == 0 && guards.pending != 0 && guards.signal != 0) drain();
  if (guards.has_thread) guards.mutex.unlock();
}

// Receives what has arrived, arms the bell again, and checks once more, because a sender may have pushed
// before the bell was armed.
void EndpointCore::drain() noexcept {
  Guards& guards = guards_;
  guards.busy = guards.busy + 1;
  in_progress_ = true;
  guards.in_signal = true;
  int handled = 0;
  do {
    guards.pending = 0;
    try {
      handled = transport_->poll_from_signal(inbox_);
      if (handled == 0) {
        transport_->rearm_doorbell();
        handled = transport_->poll_from_signal(inbox_);
      }
    } catch (...) {
      if (!guards.error) guards.error = std::current_exception();
      handled = 1;
    }
  } while (handled != 0 || guards.pending != 0);
  guards.in_signal = false;
  in_progress_ = false;
  guards.busy = guards.busy - 1;
}

bool EndpointCore::takes_in_signal(Header header) const {
  const Kept& kept = *kept_;
  return header.kind != Kind::internal && kept.memory.size() - kept.used >= kept.largest;
}

bool EndpointCore::must_stay_behind(Rank dst) const {
  return num_deferred_ != 0 &&
         (deferred_.contains(dst) || (kept_ && kept_->any[static_cast<std::size_t>(dst)] != 0));
}

bool EndpointCore::keep_in_signal(Rank dst, Header header, std::span<const std::byte> a, Tail tail) {
  const Kept::Record record{dst, static_cast<std::uint32_t>(a.size() + tail.size()), header};
  Kept& kept = *kept_;
  if (kept.memory.size() - kept.used < sizeof record + record.bytes) return false;
  const auto append = [&kept](const void* data, std::size_t bytes) {
    if (bytes != 0) std::memcpy(kept.memory.data() + kept.used, data, bytes);
    kept.used += bytes;
  };
  append(&record, sizeof record);
  append(a.data(), a.size());
  append(tail.data(), tail.size());
  kept.any[static_cast<std::size_t>(dst)] = 1;
  stats_.most_deferred = std::max(stats_.most_deferred, ++num_deferred_);
  return true;
}

// Appends the kept messages to those that deferred_ has for the same rank. No other message for these ranks
// can come in between.
void EndpointCore::sort_kept() {
  Kept& kept = *kept_;
  for (std::size_t at = 0; at < kept.used;) {
    const auto record = detail::load<Kept::Record>(kept.memory.data() + at);
    --num_deferred_;
    defer(record.dst, record.header, std::span(kept.memory).subspan(at + sizeof record, record.bytes), {});
    at += sizeof record + record.bytes;
  }
  kept.used = 0;
  std::ranges::fill(kept.any, 0);
}

void EndpointCore::interrupted() noexcept {
  Guards& guards = guards_;
  if (guards.busy != 0) {
    guards.pending = 1;
    return;
  }
  ++stats_.interrupts;
  drain();
}

void EndpointCore::on_signal(int /*signal*/) {
  const int saved = errno;
  if (interruptible != nullptr) interruptible->interrupted();
  errno = saved;
}

Interruptible::Interruptible(Endpoint& endpoint, int signal) : core_(endpoint.core()) {
  EndpointCore::Guards& guards = core_.guards_;
  if (core_.guarded_ || interruptible != nullptr)
    throw Error(ErrorCode::state, "interrupts or a progress thread are already in use");
  struct sigaction action = {};
  action.sa_handler = &EndpointCore::on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, nullptr) != 0)
    throw Error(ErrorCode::invalid_argument, "signal " + std::to_string(signal) + " cannot be caught");
  if (!core_.kept_)  // otherwise it may still hold messages
    core_.kept_ = std::make_unique<EndpointCore::Kept>(core_.max_message_bytes_, core_.num_ranks_);
  guards.signal = signal;
  guards.busy = 1;  // until everything is set up
  core_.guarded_ = true;
  interruptible = &core_;
  if (!core_.transport_->arm_doorbell(signal)) {
    interruptible = nullptr;
    core_.guarded_ = false;
    guards.signal = 0;
    guards.busy = 0;
    throw Error(ErrorCode::not_applicable,
                "transport " + core_.transport_->name() + " cannot interrupt a computing rank");
  }
  guards.pending = 1;  // handles what arrived before the bell was armed
  core_.leave();
}

Interruptible::~Interruptible() {
  core_.enter();
  core_.transport_->disarm_doorbell();
  interruptible = nullptr;
  core_.guards_.signal = 0;
  core_.guards_.pending = 0;
  core_.leave();
  core_.guarded_ = false;
}

ProgressThread::ProgressThread(Endpoint& endpoint, std::chrono::microseconds period)
    : core_(endpoint.core()) {
  if (core_.guarded_) throw Error(ErrorCode::state, "interrupts or a progress thread are already in use");
  if (!core_.transport_->allows_threads())
    throw Error(ErrorCode::not_applicable,
                "a progress thread needs MPI_THREAD_MULTIPLE from MPI_Init_thread");
  core_.guards_.has_thread = true;
  core_.guarded_ = true;
  thread_ = std::thread([this, period] { run(period); });
}

Mask::Mask(Endpoint& endpoint) : core_(endpoint.core()) {
  if (core_.guarded_) [[unlikely]]
    core_.enter();
}

Mask::~Mask() {
  if (core_.guarded_) [[unlikely]]
    core_.leave();
}

ProgressThread::~ProgressThread() {
  stop_ = true;
  thread_.join();
  core_.guarded_ = false;
  core_.guards_.has_thread = false;
}

void ProgressThread::run(std::chrono::microseconds period) {
  EndpointCore::Guards& guards = core_.guards_;
  while (!stop_) {
    if (guards.mutex.try_lock()) {
      try {
        if (!guards.error) core_.progress();
      } catch (...) {
        guards.error = std::current_exception();
      }
      guards.mutex.unlock();
    }
    std::this_thread::sleep_for(period);
  }
}

}  // namespace nuice::am
