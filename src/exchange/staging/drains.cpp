// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/staging/drains.hpp"

#include <algorithm>

namespace nuice::mpi {

Drains::Drains(const device::Location& at, const Mirror& receives, Bytes chunk_bytes)
    : receives_(receives), chunk_bytes_(chunk_bytes) {
  if (!at.is_on_device()) return;
  const device::Current current(at);
  stream_ = device::Stream(at);
  if (!any()) return;
  for (std::int64_t i = 0; i < num_events; ++i) events_.emplace_back(at);
  const std::vector<Mirror::Range>& ranges = receives.ranges();
  for (std::size_t i = 0; i < ranges.size(); ++i) ranges_of_partner_.push_back(i);
  std::ranges::stable_sort(ranges_of_partner_, {}, [&](std::size_t i) { return ranges[i].partner; });
  landings_.resize(ranges.size());
  landed_.reserve(ranges.size());
  pending_.reserve(2 * ranges.size());
}

void Drains::begin() {
  landed_.clear();
  pending_.clear();
  pending_bytes_ = 0;
  has_taken_ = false;
  std::ranges::fill(landings_, Landing{});
}

void Drains::land(const Block& received) {
  if (!any() || !receives_.holds(received.at)) return;
  const Bytes begin = received.at - receives_.data();
  const std::vector<Mirror::Range>& ranges = receives_.ranges();
  const auto after = std::ranges::upper_bound(ranges, begin, {}, &Mirror::Range::begin);
  const auto index = static_cast<std::size_t>(after - ranges.begin()) - 1;
  const Mirror::Range& range = ranges[index];
  Landing& landing = landings_[index];
  if (!range.is_streamed || landing.come != begin - range.begin) return;  // drained in one piece
  landing.come += received.bytes;
  const bool is_new = !landing.is_listed && landing.come - landing.drained >= chunk_bytes_;
  if (!is_new) return;
  landing.is_listed = true;
  landed_.push_back(index);
}

void Drains::drain_landed() {
  for (const std::size_t index : landed_) {
    const Bytes begin = receives_.ranges()[index].begin;
    Landing& landing = landings_[index];
    receives_.drain(begin + landing.drained, begin + landing.come, stream_);
    landing.drained = landing.come;
    landing.is_listed = false;
  }
  landed_.clear();
}

std::int64_t Drains::take(std::size_t partner) {
  has_taken_ = true;
  const std::vector<Mirror::Range>& ranges = receives_.ranges();
  const auto partner_of = [&](std::size_t i) { return ranges[i].partner; };
  for (const std::size_t i : std::ranges::equal_range(ranges_of_partner_, partner, {}, partner_of))
    if (const Bytes begin = ranges[i].begin + landings_[i].drained; begin < ranges[i].end) {
      pending_.push_back({begin, ranges[i].end});
      pending_bytes_ += ranges[i].end - begin;
    }
  return num_begun_ + 1;
}

void Drains::drain_taken() {
  std::ranges::sort(pending_, {}, &Pending::begin);
  for (std::size_t i = 0; i < pending_.size();) {
    const Bytes begin = pending_[i].begin;
    Bytes end = pending_[i++].end;
    while (i < pending_.size() && pending_[i].begin == end) end = pending_[i++].end;
    receives_.drain(begin, end, stream_);
  }
  pending_.clear();
  pending_bytes_ = 0;
  has_taken_ = false;
  if (num_begun_ - num_over_ == num_events) event_of(++num_over_).wait();
  event_of(++num_begun_).record(stream_.get());
}

bool Drains::are_over(bool block) {
  for (; num_over_ < num_begun_; ++num_over_) {
    const device::Event& event = event_of(num_over_ + 1);
    if (block)
      event.wait();
    else if (!event.is_over())
      return false;
  }
  return true;
}

}  // namespace nuice::mpi
