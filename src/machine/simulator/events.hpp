// SPDX-License-Identifier: BSD-3-Clause
// The queue of future events: earliest first, at the same time by kind and id, so that runs repeat exactly.
//
// Times are kept to 44 significant bits. Sums of the same numbers in another order then nearly always meet at the same
// time, and what happens at the same time is worked out together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace nuice::machine {

/// In the order in which they are taken at the same time.
enum class EventKind : std::uint8_t {
  flow_ends,     ///< id: transfer
  arrives,       ///< id: transfer
  hands_shaken,  ///< id: transfer
  work_ends,     ///< id: rank
  port_ready,    ///< id: transfer, its start-up is over
  met,           ///< id: meeting
  inquiry,       ///< id: rank that asks
  answer,        ///< id: rank that asked
  release,       ///< id: rank whose lock is reset
  retry,         ///< id: rank
};

struct Event {
  double time;
  EventKind kind;
  std::uint32_t id;
  std::uint32_t version;  ///< An event whose version is no longer that of its subject is void.
};

/// The nearest number with 44 significant bits.
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
