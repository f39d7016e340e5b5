// SPDX-License-Identifier: BSD-3-Clause
// Coalescing: small items for the same rank are sent together, and their handler runs once per item.
//
//   am::Coalescer<Cell> cells(ep, visit, {.buffer_bytes = 4096});
//   cells.push(dst, Cell{3, 4});     // any number of times, in handlers too
//   cells.push_all(dst, n, [&](std::size_t i) noexcept { return Cell{x[i], y[i]}; });
//   cells.push_each(n, [&](std::size_t i) noexcept { return owner[i]; },
//                   [&](std::size_t i) noexcept { return Cell{x[i], y[i]}; });
//   cells.flush();                   // or ep.quiesce(), which flushes every coalescer
//
// A buffer is sent when the next item does not fit, when it is max_age_us old (checked while polling), or on
// flush. Order: an item counts as sent when its buffer is sent, so a send() to the same rank may overtake
// waiting items. If a handler throws an exception for an item, the remaining items of the buffer are dropped.
// An item takes as many bytes as its type, without a header. Buffers of 2 to 8 KiB are large enough in most
// cases.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "nuice/am/endpoint.hpp"

namespace nuice::am {

class HostRelay;

struct CoalescerOptions {
  /// The size of the buffer of each destination in use; at most max_message_bytes().
  std::size_t buffer_bytes = 4096;
  double max_age_us = 0;  ///< The age at which a buffer is sent, in microseconds; 0: no limit.
  /// If given, items for other hosts take two hops (host_relay.hpp), and the buffers of all destinations on a
  /// host together have at most buffer_bytes.
  const HostRelay* relay = nullptr;
};

/// The part of a coalescer that does not depend on the type of the items.
class CoalescerBase {
 public:
  CoalescerBase(const CoalescerBase&) = delete;
  CoalescerBase& operator=(const CoalescerBase&) = delete;
  ~CoalescerBase();

  /// Sends the waiting items for dst, or for all ranks. Makes progress as Endpoint::send does. An error of a
  /// handler is thrown after all items have been sent.
  void flush(Rank dst);
  void flush();

 protected:
  struct Buffer {
    std::byte* next = nullptr;  // where the next item goes
    std::byte* end = nullptr;
    std::unique_ptr<std::byte[]> memory;
  };
  CoalescerBase(Endpoint& endpoint, std::uint16_t id, std::size_t item_bytes, CoalescerOptions options);
  /// Makes room and adds the item. Throws Error with code `invalid_argument` for an invalid rank.
  void push_slowly(Rank dst, const void* item);

  EndpointCore& core_;
  std::vector<Buffer> buffers_;  // by rank

 private:
  friend class EndpointCore;
  void flush_if_old();
  bool has_items() const;
  Rank at_distance(Rank distance) const;
  void send(Rank dst);
  void send_alone(Rank dst);
  void send_to_host(Rank dst);
  Rank goes_to(Rank dst) const;
  bool is_empty(Rank dst) const;
  std::size_t capacity(Rank dst) const;
  std::uint16_t id_;
  std::size_t item_bytes_;
  std::size_t buffer_bytes_;
  const HostRelay* relay_;
  std::vector<std::byte> parcel_;  // a message to a host, while it is assembled
  std::chrono::nanoseconds max_age_;
  std::chrono::steady_clock::time_point last_flush_;
};

/// A coalescer for one handler. The endpoint must be sealed, and must live as long as the coalescer. Items
/// that the coalescer still holds when it is destroyed are lost.
template <Argument A>
class Coalescer : public CoalescerBase {
 public:
  /// Makes a coalescer. buffer_bytes must be at least the size of an item, and at most max_message_bytes().
  /// With a relay it must be at least 2 bytes plus, for each rank of the largest host, the size of an item
  /// and 4 bytes. Throws Error with code `invalid_argument` for another buffer_bytes, and `state` before
  /// seal().
  Coalescer(Endpoint& endpoint, Handler<A> handler, CoalescerOptions options = {})
      : CoalescerBase(endpoint, handler.id, sizeof(A), options) {
    static_assert(wire_bytes<A> != 0, "count empty items instead of sending them");
    static_assert(alignof(A) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }

  /// Adds an item for dst. If the buffer is full, push() sends it and makes progress as Endpoint::send()
  /// does. An error of a handler that runs during push() is thrown after the item has been added.
  [[gnu::always_inline]] void push(Rank dst, const A& item) {
    if (static_cast<std::size_t>(dst) >= buffers_.size() ||
        buffers_[static_cast<std::size_t>(dst)].next == buffers_[static_cast<std::size_t>(dst)].end)
        [[unlikely]] {
      push_slowly(dst, &item);
      return;
    }
    Buffer& buffer = buffers_[static_cast<std::size_t>(dst)];
    ::new (buffer.next) A(item);  // not memcpy: as an A it cannot alias the pointers, which stay in registers
    buffer.next += sizeof(A);
  }

  /// Calls push(dst, item(i)) for all i in 0 .. count - 1, but checks for space only once per buffer. item
  /// must not throw exceptions or use the endpoint.
  template <typename Item>
  void push_all(Rank dst, std::size_t count, Item&& item) {
    static_assert(std::is_nothrow_invocable_r_v<A, Item&, std::size_t>, "item(i) must be noexcept");
    for (std::size_t i = 0; i < count;) {
      Buffer* const buffer = static_cast<std::size_t>(dst) < buffers_.size()
                                 ? &buffers_[static_cast<std::size_t>(dst)]
                                 : nullptr;
      if (buffer == nullptr || buffer->next == buffer->end) {
        const A one = item(i++);
        push_slowly(dst, &one);
        continue;
      }
      const std::size_t room = static_cast<std::size_t>(buffer->end - buffer->next) / sizeof(A);
      const std::size_t last = i + std::min(room, count - i);
      std::byte* next = buffer->next;
      for (; i < last; ++i, next += sizeof(A)) ::new (next) A(item(i));
      buffer->next = next;
    }
  }

  /// Calls push(dst(i), item(i)) for all i in 0 .. count - 1, but takes half the time or less. It finds the
  /// places of many items before it writes the first item, because a processor that alternates between
  /// finding and writing waits for memory at every item. dst and item must not throw exceptions or use the
  /// endpoint; dst(i) may be called twice.
  template <typename Dst, typename Item>
  void push_each(std::size_t count, Dst&& dst, Item&& item) {
    static_assert(std::is_nothrow_invocable_r_v<Rank, Dst&, std::size_t>, "dst(i) must be noexcept");
    static_assert(std::is_nothrow_invocable_r_v<A, Item&, std::size_t>, "item(i) must be noexcept");
    constexpr std::size_t at_once = 64;
    std::byte* places[at_once];
    Buffer* const buffers = buffers_.data();
    const std::size_t ranks = buffers_.size();
    for (std::size_t i = 0; i < count;) {
      const std::size_t most = std::min(at_once, count - i);
      std::size_t found = 0;
      for (; found < most; ++found) {
        const auto to = static_cast<std::size_t>(dst(i + found));
        if (to >= ranks) [[unlikely]]
          break;
        std::byte* const next = buffers[to].next;
        if (next == buffers[to].end) [[unlikely]]
          break;
        buffers[to].next = next + sizeof(A);
        places[found] = next;
      }
      for (std::size_t place = 0; place < found; ++place) ::new (places[place]) A(item(i + place));
      i += found;
      if (found == most) continue;
      const A one = item(i);
      push_slowly(dst(i), &one);
      ++i;
    }
  }
};

}  // namespace nuice::am
