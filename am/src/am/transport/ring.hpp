// SPDX-License-Identifier: BSD-3-Clause
// A ring of messages from one rank to another, in shared memory.
//
// Records are contiguous: eight bytes of header, then the payload, rounded up to eight bytes. A header word
// that is not 0 shows that the record is there. So a small message costs one cache line, and no index is
// shared for each message. The sender first clears the word of the next header. The receiver publishes how
// far it has read only after every quarter of the ring. The idea is from FastForward (Giacomoni, Moseley,
// Vachharajani, PPoPP 2008), and is extended here to records of any length. If a record does not fit before
// the end of the ring, a mark is left there, and the record starts at the beginning.
//
// Doorbell: a receiver that computes sets `armed`. A sender that sees `armed` after a push raises a signal in
// the receiver. After arming, and before its last check, the receiver makes every core's pending stores
// visible (membarrier), so that senders need no fence. Receivers bear this cost because they arm rarely,
// while senders push often.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/support/cache_line.hpp"
#include "nuice/am/transport.hpp"

namespace nuice::am {

/// The doorbell of a receiver, in shared memory. All zero at the beginning.
struct Doorbell {
  static constexpr int asleep = -1;
  alignas(
      cache_line_bytes) std::atomic<int> armed;  ///< The signal to raise; `asleep`: to be woken; 0: neither.
  std::atomic<int> process;
  std::atomic<int> thread;
};

/// The counters of a ring, in shared memory before the ring's data. All zero at the beginning.
struct RingControl {
  alignas(cache_line_bytes) std::atomic<std::uint64_t> consumed;  ///< All bytes read so far.
};

/// Raises the signal, or wakes the sleeper. Does so once per arming.
void ring_doorbell(Doorbell& bell);

namespace detail {
inline std::uint64_t to_word(Header header) { return std::bit_cast<std::uint64_t>(header); }
inline std::size_t record_bytes(std::size_t payload) {
  return sizeof(Header) + ((payload + 7) & ~std::size_t{7});
}
inline std::atomic_ref<std::uint64_t> word_at(std::byte* at) {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at));
}
/// Copies an argument. The usual sizes are fixed in the code, because a call of memcpy takes as long as the
/// rest of a send.
[[gnu::always_inline]] inline void copy_argument(std::byte* to, const void* from, std::size_t bytes) {
  switch (bytes) {
    case 0:
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    case 24:
      std::memcpy(to, from, 24);
      return;
    case 32:
      std::memcpy(to, from, 32);
      return;
    case 64:
      std::memcpy(to, from, 64);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}
}  // namespace detail

/// The sender's side.
class RingProducer {
 public:
  RingProducer() = default;
  /// capacity: a power of two. data: zeroed, 8-byte aligned.
  RingProducer(RingControl* control, std::byte* data, std::size_t capacity, Doorbell* bell)
      : control_(control), data_(data), bell_(bell), mask_(capacity - 1) {}

  /// Returns false if the ring is full. The record is visible to the receiver at once.
  [[gnu::always_inline]] bool try_push(Header header, const void* a, std::size_t a_bytes, const void* b,
                                       std::size_t b_bytes) {
    const std::size_t need = detail::record_bytes(a_bytes + b_bytes);
    std::size_t at = static_cast<std::size_t>(written_) & mask_;
    if (written_ + need + sizeof(Header) > limit_ || at + need > mask_ + 1) [[unlikely]] {
      if (!make_room(need)) return false;
      at = static_cast<std::size_t>(written_) & mask_;
    }
    header.bytes = static_cast<std::uint32_t>(a_bytes + b_bytes);
    std::byte* const record = data_ + at;
    detail::word_at(data_ + ((at + need) & mask_)).store(0, std::memory_order_relaxed);
    std::byte* const payload = record + sizeof(Header);
    detail::copy_argument(payload, a, a_bytes);
    if (b_bytes != 0) std::memcpy(payload + a_bytes, b, b_bytes);
    detail::word_at(record).store(detail::to_word(header), std::memory_order_release);
    written_ += need;
    if (bell_ != nullptr && bell_->armed.load(std::memory_order_relaxed) != 0) [[unlikely]]
      ring_doorbell(*bell_);
    return true;
  }

  /// Whether the receiver has published that it has read everything that was pushed.
  bool seems_empty() const { return control_->consumed.load(std::memory_order_acquire) == written_; }

 private:
  bool make_room(std::size_t need) {
    const std::size_t capacity = mask_ + 1;
    const std::size_t at = static_cast<std::size_t>(written_) & mask_;
    const std::size_t to_end = capacity - at;
    const std::size_t wasted = need > to_end ? to_end : 0;
    limit_ = control_->consumed.load(std::memory_order_acquire) + capacity;
    if (written_ + wasted + need + sizeof(Header) > limit_) return false;
    if (wasted != 0) {
      detail::word_at(data_).store(0, std::memory_order_relaxed);
      const Header mark{.bytes = 0, .handler = 0, .kind = Kind::transport, .credits = 0};
      detail::word_at(data_ + at).store(detail::to_word(mark), std::memory_order_release);
      written_ += wasted;
    }
    return true;
  }

  RingControl* control_ = nullptr;
  std::byte* data_ = nullptr;
  Doorbell* bell_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t written_ = 0;  // bytes in total
  std::uint64_t limit_ = 0;    // the limit for written_, as far as known
};

/// The receiver's side.
class RingConsumer {
 public:
  RingConsumer() = default;
  RingConsumer(RingControl* control, std::byte* data, std::size_t capacity)
      : control_(control), data_(data), mask_(capacity - 1), step_(capacity / 4) {}

  bool empty() const { return word() == 0; }

  /// Calls deliver(header, payload) for up to `limit` records. A record counts as read even if deliver
  /// throws.
  template <typename Deliver>
  int poll(int limit, Deliver&& deliver) {
    return poll_while(limit, [](Header) { return true; }, deliver);
  }
  /// Like poll(), but stops before the first record for which wanted(header) is false; that record stays in
  /// the ring.
  template <typename Wanted, typename Deliver>
  [[gnu::always_inline]] int poll_while(int limit, Wanted&& wanted, Deliver&& deliver) {
    int handled = 0;
    while (handled < limit) {
      const std::uint64_t word = this->word();
      if (word == 0) break;
      const auto header = std::bit_cast<Header>(word);
      const std::size_t at = static_cast<std::size_t>(read_) & mask_;
      if (header.kind == Kind::transport) [[unlikely]] {
        advance(mask_ + 1 - at);
        continue;
      }
      if (!wanted(header)) break;
      const Advance on_exit{*this, detail::record_bytes(header.bytes)};
      ++handled;
      deliver(header, data_ + at + sizeof(Header));
    }
    return handled;
  }

 private:
  struct Advance {
    RingConsumer& ring;
    std::size_t bytes;
    ~Advance() { ring.advance(bytes); }
  };

  std::uint64_t word() const {
    return detail::word_at(data_ + (static_cast<std::size_t>(read_) & mask_)).load(std::memory_order_acquire);
  }
  void advance(std::size_t bytes) {
    read_ += bytes;
    if (read_ - told_ >= step_) {
      told_ = read_;
      control_->consumed.store(read_, std::memory_order_release);
    }
  }

  RingControl* control_ = nullptr;
  std::byte* data_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t told_ = 0;
};

/// The largest payload for a ring of this capacity. A record, and the unused end before it, must fit even if
/// the receiver has not yet published the last quarter that it has read.
constexpr std::size_t ring_max_payload(std::size_t capacity) { return capacity / 4 - 2 * sizeof(Header); }

}  // namespace nuice::am
