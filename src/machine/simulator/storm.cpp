// SPDX-License-Identifier: BSD-3-Clause
#include "machine/simulator/storm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "machine/simulator/engine.hpp"
#include "nuice/core/error.hpp"

namespace nuice::machine {
namespace {

constexpr double no_end = std::numeric_limits<double>::infinity();

/// How often `step` fits into `left` with one to spare.
double times_in(double left, double step) {
  return step > 0 ? std::max(0.0, std::floor(left / step) - 1) : no_end;
}

bool repeats(EventKind kind) {
  return kind == EventKind::inquiry || kind == EventKind::answer || kind == EventKind::retry;
}

}  // namespace

Storm::Snapshot Engine::snapshot() const {
  Storm::Snapshot now{.time = now_,
                      .inquiries = inquiries_,
                      .refusals = refusals_,
                      .timeouts = network_.counts().timeouts,
                      .bytes_left = network_.bytes_left(now_)};
  for (Rank rank = 0; rank < num_ranks(); ++rank) {
    const Processor& p = processors_[at(rank)];
    now.ranks.push_back(record_.of(rank));
    now.work_left_s.push_back(p.busy ? p.busy_until - now_ : 0);
  }
  return now;
}

/// Work that the window did not see begin: a storm around a rank that is busy for long.
bool Engine::works_since_before(Rank rank, double time) const {
  const Processor& p = processors_[at(rank)];
  return p.busy && p.work_since < time;
}

/// How many windows like the last one come before anything else does.
double Engine::windows_ahead(const Storm::Snapshot& begin, const Storm::Snapshot& end) const {
  const double length = end.time - begin.time;
  double most = no_end;
  for (std::size_t i = 0; i < end.bytes_left.size(); ++i)
    most = std::min(
        most, times_in(end.bytes_left[i].second, begin.bytes_left[i].second - end.bytes_left[i].second));
  for (Rank rank = 0; rank < num_ranks(); ++rank) {
    if (works_since_before(rank, begin.time))
      most = std::min(
          most, times_in(end.work_left_s[at(rank)], begin.work_left_s[at(rank)] - end.work_left_s[at(rank)]));
  }
  for (const Event& event : events_.all()) {
    if (!moves_with_storm(event)) most = std::min(most, times_in(event.time - now_, length));
  }
  return most;
}

/// Whether an event comes later when repeats are passed over; ends of work and of messages are computed again.
bool Engine::moves_with_storm(const Event& event) const {
  return repeats(event.kind) || event.kind == EventKind::work_ends || event.kind == EventKind::flow_ends ||
         (event.kind == EventKind::port_ready && network_.is_turned_away(event.id));
}

/// At the end of a window of repeats. Throws Error state if they would never end, limit if they take no time.
void Engine::pass_over_repeats() {
  const Storm::Snapshot* const begin = storm_.begin_window(snapshot());
  if (begin == nullptr) return;
  const Storm::Snapshot& end = storm_.current();
  const double length = end.time - begin->time;
  const double windows = length > 0 ? windows_ahead(*begin, end) : no_end;
  if (windows == no_end) {  // rounding hides what the inquiries, or the transfers that they wait for, take
    throw Error(ErrorCode::limit, "after " + std::to_string(now_) +
                                      " s refused inquiries no longer take any time that can be told: "
                                      "the machine's times are too far apart");
  }
  if (windows < 1) return;
  skip(windows, *begin, end);
  storm_.calm();
}

void Engine::skip(double windows, const Storm::Snapshot& begin, const Storm::Snapshot& end) {
  const double seconds = windows * (end.time - begin.time);
  const auto times = [windows](std::uint64_t before, std::uint64_t after) {
    return static_cast<std::uint64_t>(windows * static_cast<double>(after - before));
  };
  inquiries_ += times(begin.inquiries, end.inquiries);
  refusals_ += times(begin.refusals, end.refusals);
  network_.add_timeouts(times(begin.timeouts, end.timeouts));
  for (Rank rank = 0; rank < num_ranks(); ++rank) skip_rank(rank, windows, seconds, begin, end);
  events_.rewrite([&](Event& event) {
    if (event.kind == EventKind::flow_ends) return false;  // pushed again below
    if (event.kind == EventKind::work_ends) {
      const Processor& p = processors_[event.id];
      event.time = snap(p.busy_until);
      return p.busy && event.version == p.version;
    }
    if (moves_with_storm(event)) event.time = snap(event.time + seconds);
    return true;
  });
  now_ += seconds;
  for (std::size_t i = 0; i < end.bytes_left.size(); ++i) {
    const auto [id, left] = end.bytes_left[i];
    network_.set_bytes_left(id, left - windows * (begin.bytes_left[i].second - left), now_);
  }
}

/// What began in the window moves on; what began before goes on.
void Engine::skip_rank(Rank rank, double windows, double seconds, const Storm::Snapshot& begin,
                       const Storm::Snapshot& end) {
  Processor& p = processors_[at(rank)];
  if (works_since_before(rank, begin.time)) {
    p.busy_until += seconds - windows * (begin.work_left_s[at(rank)] - end.work_left_s[at(rank)]);
  } else if (p.busy) {
    p.busy_until += seconds;
    p.work_since += seconds;
  }
  if (p.waiting_since >= begin.time) p.waiting_since += seconds;
  if (p.handler_until > now_) p.handler_until += seconds;
  if (p.refused_at >= begin.time) p.refused_at += seconds;
  record_.skip(rank, windows, seconds, begin.time, begin.ranks[at(rank)], end.ranks[at(rank)]);
}

}  // namespace nuice::machine
