// SPDX-License-Identifier: BSD-3-Clause
// The queue of future events, ordered by time, then by kind and id, so that runs repeat exactly.
//
// Times are rounded to 44 significant bits. Sums of the same numbers in a different order then nearly always
// give the same time, and simultaneous events are handled together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace nuice::machine {

/// The kind of an event. Simultaneous events are handled in this order.
enum class EventKind : std::uint8_t {
  flow_ends,     ///< The last byte of transfer `id` is out.
  arrives,       ///< Transfer `id` arrives.
  hands_shaken,  ///< The handshake of transfer `id` is complete.
  work_ends,     ///< The work of rank `id` ends.
  port_ready,    ///< The start-up of transfer `id` is over.
  met,           ///< Both ranks of meeting `id` are ready.
  inquiry,       ///< An inquiry of rank `id` arrives.
  answer,        ///< The answer to rank `id` arrives.
  release,       ///< The lock of rank `id` is reset.
  retry,         ///< Rank `id` tries again.
};

struct Event {
  double time;
  EventKind kind;
  std::uint32_t id;
  std::uint32_t version;  ///< The event is void if this is not the current version of its subject.
};

/// Returns the nearest number with 44 significant bits.
inline double snap(double time) {
  constexpr std::uint64_t low = (1U << 9) - 1;
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(time) + low / 2 + 1) & ~low);
}

class Events {
 public:
  bool empty() const { return heap_.empty(); }
  double next_time() const { return heap_.front().time; }

  void push(double time, EventKind kind, std::uint32_t id, std::uint32_t version = 0) {
    heap_.push_back({snap(time), kind, id, version});
    std::ranges::push_heap(heap_, later);
  }

  Event pop() {
    std::ranges::pop_heap(heap_, later);
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }

 private:
  static bool later(const Event& a, const Event& b) {
    if (a.time != b.time) return a.time > b.time;
    if (a.kind != b.kind) return a.kind > b.kind;
    return a.id > b.id;
  }

  std::vector<Event> heap_;
};

}  // namespace nuice::machine
