// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/am/coalescer.hpp"

#include <algorithm>
#include <cstring>

#include "am/endpoint_core.hpp"
#include "nuice/am/host_relay.hpp"
#include "nuice/core/error.hpp"

namespace nuice::am {

using Clock = std::chrono::steady_clock;

CoalescerBase::CoalescerBase(Endpoint& endpoint, std::uint16_t id, std::size_t item_bytes,
                             CoalescerOptions options)
    : core_(endpoint.core()),
      buffers_(static_cast<std::size_t>(endpoint.num_ranks())),
      id_(id),
      item_bytes_(item_bytes),
      buffer_bytes_(options.buffer_bytes),
      relay_(options.relay),
      max_age_(static_cast<std::int64_t>(options.max_age_us * 1e3)),
      last_flush_(Clock::now()) {
  const EndpointCore::Entry entry(core_);
  if (!core_.sealed_) throw Error(ErrorCode::state, "a Coalescer was made before seal()");
  if (relay_ != nullptr && &relay_->endpoint_ != &endpoint)
    throw Error(ErrorCode::invalid_argument, "a Coalescer has the HostRelay of another endpoint");
  bool holds_an_item = options.buffer_bytes <= endpoint.max_message_bytes();
  for (Rank dst = 0; dst < core_.num_ranks_; ++dst) holds_an_item = holds_an_item && capacity(dst) > 0;
  if (!holds_an_item)
    throw Error(ErrorCode::invalid_argument, "a buffer of " + std::to_string(options.buffer_bytes) +
                                                 " bytes for items of " + std::to_string(item_bytes) +
                                                 "; messages have at most " +
                                                 std::to_string(endpoint.max_message_bytes()));
  core_.coalescers_.push_back(this);
}

/// Returns the capacity of dst's buffer, in bytes of whole items. A message to a host must have room for its
/// header and for the full buffers of all ranks of the host.
std::size_t CoalescerBase::capacity(Rank dst) const {
  if (relay_ == nullptr || !relay_->relays(dst)) return buffer_bytes_ / item_bytes_ * item_bytes_;
  const std::size_t ranks = relay_->ranks_beside(dst).size();
  const std::size_t head = sizeof(HostRelay::Batches) + ranks * sizeof(std::uint32_t);
  return buffer_bytes_ < head ? 0 : (buffer_bytes_ - head) / ranks / item_bytes_ * item_bytes_;
}

/// Returns the rank to which a message with items for dst is sent.
Rank CoalescerBase::goes_to(Rank dst) const {
  return relay_ != nullptr && relay_->relays(dst) ? relay_->dealer(dst) : dst;
}

bool CoalescerBase::is_empty(Rank dst) const {
  const Buffer& buffer = buffers_[static_cast<std::size_t>(dst)];
  return buffer.next == buffer.memory.get();
}

bool CoalescerBase::has_items() const {
  return std::ranges::any_of(buffers_, [](const Buffer& b) { return b.next != b.memory.get(); });
}

CoalescerBase::~CoalescerBase() {
  const EndpointCore::Entry entry(core_);
  std::erase(core_.coalescers_, this);
}

void CoalescerBase::send(Rank dst) {
  relay_ != nullptr && relay_->relays(dst) ? send_to_host(dst) : send_alone(dst);
}

// Takes the buffer out before sending it. Sending may poll, and a handler that then runs may push to the same
// rank. An exception of a handler is thrown when the state is consistent again.
void CoalescerBase::send_alone(Rank dst) {
  Buffer& buffer = buffers_[static_cast<std::size_t>(dst)];
  std::unique_ptr<std::byte[]> full = std::move(buffer.memory);
  const auto bytes = static_cast<std::size_t>(buffer.next - full.get());
  buffer = {};
  const Header header{.bytes = static_cast<std::uint32_t>(bytes), .handler = id_, .kind = Kind::batch};
  FirstError error;
  error.of([&] {
    if (dst != core_.rank_ || !core_.handled_at_once(header, full.get()))
      core_.post(dst, header, full.get(), bytes, {});
  });
  if (buffer.memory == nullptr) {  // otherwise a handler has begun a new buffer
    buffer.next = full.get();
    buffer.end = full.get() + capacity(dst);
    buffer.memory = std::move(full);
  }
  error.rethrow();
}

/// Sends all items for the ranks of a host as one message. Their buffers are emptied before it is sent, for
/// the same reason as in send_alone().
void CoalescerBase::send_to_host(Rank dst) {
  const std::span<const Rank> ranks = relay_->ranks_beside(dst);
  std::vector<std::byte> parcel = std::move(parcel_);
  parcel.resize(ranks.size() * sizeof(std::uint32_t));
  std::size_t place = 0;
  for (const Rank rank : ranks) {
    Buffer& buffer = buffers_[static_cast<std::size_t>(rank)];
    const auto bytes = static_cast<std::uint32_t>(buffer.next - buffer.memory.get());
    std::memcpy(parcel.data() + place++ * sizeof(bytes), &bytes, sizeof(bytes));
    parcel.insert(parcel.end(), buffer.memory.get(), buffer.memory.get() + bytes);
    buffer.next = buffer.memory.get();
  }
  const HostRelay::Batches batches{id_};
  FirstError error;
  error.of([&] {
    core_.post(relay_->dealer(dst), {.handler = relay_->handler_.id, .kind = Kind::message}, &batches,
               sizeof(batches), parcel);
  });
  parcel_ = std::move(parcel);
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
      error.of([&] { send(dst); });
      if (!core_.in_progress_) error.of([&] { core_.progress(); });
    } else {
      buffer.memory = std::make_unique_for_overwrite<std::byte[]>(capacity(dst));
      buffer.next = buffer.memory.get();
      buffer.end = buffer.next + capacity(dst);
    }
  }
  std::memcpy(buffer.next, item, item_bytes_);
  buffer.next += item_bytes_;
  error.rethrow();
}

void CoalescerBase::flush(Rank dst) {
  const EndpointCore::Entry entry(core_);
  if (static_cast<std::size_t>(dst) >= buffers_.size())
    throw Error(ErrorCode::invalid_argument,
                "flush to rank " + std::to_string(dst) + " of " + std::to_string(core_.num_ranks_));
  if (!is_empty(dst)) send(dst);
}

void CoalescerBase::flush() {
  const EndpointCore::Entry entry(core_);
  FirstError error;
  for (Rank distance = 1; distance <= core_.num_ranks_; ++distance)
    error.of([&] { flush(at_distance(distance)); });
  error.rethrow();
}

// Every rank starts with the rank after it. If all ranks started with rank 0, the port of its host would
// overflow first, then that of the next host.
Rank CoalescerBase::at_distance(Rank distance) const {
  const auto there = static_cast<std::int64_t>(core_.rank_) + distance;
  return static_cast<Rank>(there % core_.num_ranks_);
}

// Sends all items once per max_age, so no item waits longer than that. If messages wait for room, the items
// stay in their buffers until there is room. So this adds at most one buffer per rank to the waiting
// messages.
void CoalescerBase::flush_if_old() {
  if (max_age_.count() == 0) return;
  const auto now = Clock::now();
  if (now - last_flush_ < max_age_) return;
  last_flush_ = now;
  for (Rank distance = 1; distance <= core_.num_ranks_; ++distance) {
    const Rank dst = at_distance(distance);
    if (!core_.must_stay_behind(goes_to(dst))) flush(dst);
  }
}

}  // namespace nuice::am
