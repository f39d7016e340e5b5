// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/am/coalescer.hpp"

#include <algorithm>
#include <cstring>

#include "am/endpoint_core.hpp"
#include "nuice/core/error.hpp"

namespace nuice::am {

using Clock = std::chrono::steady_clock;

CoalescerBase::CoalescerBase(Endpoint& endpoint, std::uint16_t id, std::size_t item_bytes,
                             CoalescerOptions options)
    : core_(endpoint.core()),
      buffers_(static_cast<std::size_t>(endpoint.num_ranks())),
      id_(id),
      item_bytes_(item_bytes),
      capacity_(options.buffer_bytes / item_bytes * item_bytes),
      max_age_(static_cast<std::int64_t>(options.max_age_us * 1e3)),
      last_flush_(Clock::now()) {
  const EndpointCore::Entry entry(core_);
  if (!core_.sealed_) throw Error(ErrorCode::state, "a Coalescer was made before seal()");
  if (capacity_ == 0 || options.buffer_bytes > endpoint.max_message_bytes())
    throw Error(ErrorCode::invalid_argument, "a buffer of " + std::to_string(options.buffer_bytes) +
                                                 " bytes for items of " + std::to_string(item_bytes) +
                                                 "; messages have at most " +
                                                 std::to_string(endpoint.max_message_bytes()));
  core_.coalescers_.push_back(this);
}

CoalescerBase::~CoalescerBase() {
  const EndpointCore::Entry entry(core_);
  std::erase(core_.coalescers_, this);
}

// Swapped out before it is sent: sending may poll, and a handler may push to the same rank. What a handler throws then
// comes out when all is in order again.
void CoalescerBase::send(Rank dst, Buffer& buffer) {
  std::unique_ptr<std::byte[]> full = std::move(buffer.memory);
  const auto bytes = static_cast<std::size_t>(buffer.next - full.get());
  buffer = {};
  FirstError error;
  error.of([&] { core_.post(dst, {.handler = id_, .kind = Kind::batch}, full.get(), bytes, {}); });
  if (buffer.memory == nullptr) {  // else a handler began a new one
    buffer.next = full.get();
    buffer.end = full.get() + capacity_;
    buffer.memory = std::move(full);
  }
  error.rethrow();
}

void CoalescerBase::push_slowly(Rank dst, const void* item) {
  if (dst < 0 || dst >= core_.num_ranks_)
    throw Error(ErrorCode::invalid_argument,
                "an item for rank " + std::to_string(dst) + " of " + std::to_string(core_.num_ranks_));
  const EndpointCore::Entry entry(core_);
  Buffer& buffer = buffers_[static_cast<std::size_t>(dst)];
  FirstError error;
  while (buffer.next == buffer.end) {
    if (buffer.memory != nullptr) {
      error.of([&] { send(dst, buffer); });
    } else {
      buffer.memory = std::make_unique_for_overwrite<std::byte[]>(capacity_);
      buffer.next = buffer.memory.get();
      buffer.end = buffer.next + capacity_;
    }
  }
  std::memcpy(buffer.next, item, item_bytes_);
  buffer.next += item_bytes_;
  error.rethrow();
}

void CoalescerBase::flush(Rank dst) {
  const EndpointCore::Entry entry(core_);
  Buffer& buffer = buffers_.at(static_cast<std::size_t>(dst));
  if (buffer.next != buffer.memory.get()) send(dst, buffer);
}

void CoalescerBase::flush() {
  const EndpointCore::Entry entry(core_);
  FirstError error;
  for (Rank dst = 0; dst < core_.num_ranks_; ++dst) error.of([&] { flush(dst); });
  error.rethrow();
}

// Everything leaves once per max_age, so nothing waits longer; but where messages wait for room, items stay here until
// there is some, so that at most one buffer for each rank is kept there because of its age.
void CoalescerBase::flush_if_old() {
  if (max_age_.count() == 0) return;
  const auto now = Clock::now();
  if (now - last_flush_ < max_age_) return;
  last_flush_ = now;
  for (Rank dst = 0; dst < core_.num_ranks_; ++dst)
    if (!core_.must_stay_behind(dst)) flush(dst);
}

}  // namespace nuice::am
