// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/staging/device_run.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

namespace nuice::mpi {

namespace {

/// Hearing costs as much as looking for messages.
constexpr unsigned misses_per_hearing = 16;

}  // namespace

DeviceRun::DeviceRun(DeviceParts parts, std::span<const Partner> sources, Rank self, Arrivals& arrivals,
                     const StreamUse& use, Faults* faults)
    : parts_(std::move(parts)), rank_(self), arrivals_(arrivals), use_(use), faults_(faults) {
  for (const Partner& source : sources)
    if (source.rank != self && source.bytes > 0) arrivals_.expect_pieces(source.rank, 1);
  waiting_.reserve(sources.size());
  if (!parts_.at.is_on_device()) return;
  const device::Current current(parts_.at);
  out_ = device::Stream(parts_.at);
  in_ = device::Stream(parts_.at);
  begun_ = device::Event(parts_.at);
  self_copied_ = device::Event(parts_.at);
  fill_ends_ = ends_of_copies(parts_.sends.bytes(), parts_.chunk_bytes);
  for (std::size_t i = 0; i < fill_ends_.size(); ++i) filled_.emplace_back(parts_.at);
  if (!drains()) return;
  for (std::int64_t i = 0; i < num_drains; ++i) drained_.emplace_back(parts_.at);
  const std::vector<Mirror::Range>& ranges = parts_.receives.ranges();
  for (std::size_t i = 0; i < ranges.size(); ++i) ranges_of_partner_.push_back(i);
  std::ranges::stable_sort(ranges_of_partner_, {}, [&](std::size_t i) { return ranges[i].partner; });
  landings_.resize(ranges.size());
  landed_.reserve(ranges.size());
  pending_.reserve(2 * ranges.size());
}

DeviceRun::~DeviceRun() {
  if (is_given_up_) {  // MPI may still write what other ranks have sent
    struct Left {
      std::unique_ptr<Exchange::State> inner;
      DeviceParts parts;
    };
    leave_to_mpi(std::make_unique<Left>(Left{std::move(inner_), std::move(parts_)}));
    return;
  }
  inner_.reset();
  if (!parts_.at.is_on_device()) return;
  try {  // the device may still read and write the mirrors
    const device::Current current(parts_.at);
    if (!filled_.empty()) filled_.back().wait();
    if (num_begun_ > 0) last_drain().wait();
  } catch (...) {
    // The device is lost, and with it what it was doing.
  }
}

void DeviceRun::carry_out_by(std::unique_ptr<Exchange::State> inner) { inner_ = std::move(inner); }

void DeviceRun::start() {
  num_filled_ = 0;
  inner_is_over_ = false;
  last_source_ = no_rank;
  num_handed_over_ = 0;
  waiting_.clear();
  landed_.clear();
  pending_.clear();
  pending_bytes_ = 0;
  has_taken_ = false;
  std::ranges::fill(landings_, Landing{});
  if (!parts_.at.is_on_device()) {
    inner_->start();
    return;
  }
  const device::Current current(parts_.at);
  are_drained(true);  // what the exchange before has left to a stream
  begin_on_streams();
  fill_all();
  if (parts_.drains_last && !filled_.empty()) in_.wait_for(filled_.back().get());
  const bool pieces_wait = inner_->run && inner_->run->awaits_copies();
  // The first chunk leaves at once, as the program may compute from here on; later ones while others travel.
  await_bytes(pieces_wait ? std::min(parts_.chunk_bytes, parts_.sends.bytes()) : parts_.sends.bytes());
  await_bytes(std::min(parts_.start_end, parts_.sends.bytes()));
  inner_->start();
  finish_self();
}

/// What the program has begun comes first, whatever our streams do; an MPI that reads its memory knows of no stream at all.
void DeviceRun::begin_on_streams() {
  begun_.record(use_.start);
  out_.wait_for(begun_.get());
  in_.wait_for(begun_.get());
  if (!parts_.self_waits) copy_self();
  if (parts_.reads_device) begun_.wait();
}

void DeviceRun::fill_all() {
  for (std::size_t i = 0; i < filled_.size(); ++i) {
    parts_.sends.fill(i == 0 ? 0 : fill_ends_[i - 1], fill_ends_[i], out_);
    filled_[i].record(out_.get());
  }
}

void DeviceRun::copy_self() {
  for (const auto& [to, from, bytes] : parts_.self) in_.copy(to, from, bytes);
  if (!parts_.self.empty()) self_copied_.record(in_.get());
}

/// It is here when start() returns, as is that of an exchange of the host's memory.
void DeviceRun::finish_self() {
  if (parts_.self_waits) {
    if (!filled_.empty()) in_.wait_for(filled_.back().get());
    copy_self();
  }
  for (const Mirror::Range& range : parts_.receives.ranges()) {
    if (parts_.drains_self[range.partner] == 0) continue;
    parts_.receives.drain(range.begin, range.end, in_);
    self_copied_.record(in_.get());
  }
  self_copied_.wait();
}

void DeviceRun::await(const Block& sent) {
  if (sent.bytes > 0 && parts_.sends.holds(sent.at)) await_bytes(sent.at - parts_.sends.data() + sent.bytes);
}

bool DeviceRun::is_filled(const Block& sent) {
  if (sent.bytes == 0 || !parts_.sends.holds(sent.at)) return true;
  const Bytes end = sent.at - parts_.sends.data() + sent.bytes;
  while (filled_bytes() < end) {
    if (!filled_[num_filled_].is_over()) return false;
    ++num_filled_;
  }
  return true;
}

void DeviceRun::await_bytes(Bytes end) {
  for (; filled_bytes() < end; ++num_filled_) filled_[num_filled_].wait();
}

/// Pieces of a large message come in their order, and are drained before the rest is here; of what does not, the whole message is.
void DeviceRun::land(const Block& received) {
  if (!drains() || !parts_.receives.holds(received.at)) return;
  const Bytes begin = received.at - parts_.receives.data();
  const std::vector<Mirror::Range>& ranges = parts_.receives.ranges();
  const auto after = std::ranges::upper_bound(ranges, begin, {}, &Mirror::Range::begin);
  const auto index = static_cast<std::size_t>(after - ranges.begin()) - 1;
  const Mirror::Range& range = ranges[index];
  Landing& landing = landings_[index];
  if (!range.is_streamed || landing.come != begin - range.begin) return;
  landing.come += received.bytes;
  const bool is_new = !landing.is_listed && landing.come - landing.drained >= parts_.chunk_bytes;
  if (!is_new) return;
  landing.is_listed = true;
  landed_.push_back(index);
}

/// What one call of MPI has brought of a message is one copy.
void DeviceRun::drain_landed() {
  for (const std::size_t index : landed_) {
    const Bytes begin = parts_.receives.ranges()[index].begin;
    Landing& landing = landings_[index];
    parts_.receives.drain(begin + landing.drained, begin + landing.come, in_);
    landing.drained = landing.come;
    landing.is_listed = false;
  }
  landed_.clear();
}

/// A message is here as a whole.
void DeviceRun::take(const Arrival& arrival) {
  ++num_events_;
  const Rank source = arrival.source.rank;
  if (source == rank_) return;
  has_taken_ = true;
  if (drains()) {
    const std::vector<Mirror::Range>& ranges = parts_.receives.ranges();
    const auto partner_of = [&](std::size_t i) { return ranges[i].partner; };
    for (const std::size_t i : std::ranges::equal_range(ranges_of_partner_, arrival.index, {}, partner_of))
      if (const Bytes begin = ranges[i].begin + landings_[i].drained; begin < ranges[i].end) {
        pending_.push_back({begin, ranges[i].end});
        pending_bytes_ += ranges[i].end - begin;
      }
  }
  // A rank that is listed several times stands for one message, whose parts arrive back to back.
  if (std::exchange(last_source_, source) == source) return;
  waiting_.push_back({arrivals_.index_of(source), num_begun_ + 1});
}

/// Contiguous bytes are drained as one.
void DeviceRun::drain_pending() {
  std::ranges::sort(pending_, {}, &Pending::begin);
  for (std::size_t i = 0; i < pending_.size();) {
    const Bytes begin = pending_[i].begin;
    Bytes end = pending_[i++].end;
    while (i < pending_.size() && pending_[i].begin == end) end = pending_[i++].end;
    parts_.receives.drain(begin, end, in_);
  }
  pending_.clear();
  pending_bytes_ = 0;
  has_taken_ = false;
  if (num_begun_ - num_over_ == num_drains) {
    drained_[static_cast<std::size_t>(num_over_ % num_drains)].wait();
    ++num_over_;
  }
  drained_[static_cast<std::size_t>(num_begun_ % num_drains)].record(in_.get());
  ++num_begun_;
}

const device::Event& DeviceRun::last_drain() const {
  return drained_[static_cast<std::size_t>((num_begun_ - 1) % num_drains)];
}

/// Whether all that was begun is drained. block: it is.
bool DeviceRun::are_drained(bool block) {
  for (; num_over_ < num_begun_; ++num_over_) {
    const device::Event& event = drained_[static_cast<std::size_t>(num_over_ % num_drains)];
    if (block)
      event.wait();
    else if (!event.is_over())
      return false;
  }
  return true;
}

void DeviceRun::hand_over() {
  if (drains()) are_drained(false);
  for (; num_handed_over_ < waiting_.size(); ++num_handed_over_) {
    const auto& [source, drain] = waiting_[num_handed_over_];
    if (drains() && drain > num_over_) return;
    arrivals_.land_piece(source);
  }
}

/// What the other exchange has for this rank now. Returns whether there was something. Many messages are drained as one, but not where
/// somebody waits for single ones.
bool DeviceRun::take_next(bool may_wait, bool drains_at_once) {
  const std::optional<Arrival> arrival = inner_->next(may_wait);
  drain_landed();
  if (arrival) take(*arrival);
  inner_is_over_ = inner_->standing == Exchange::State::Standing::idle;
  const bool is_enough = inner_is_over_ || drains_at_once || pending_bytes_ >= parts_.chunk_bytes;
  if (drains() && has_taken_ && is_enough && !inner_->arrivals.any()) drain_pending();
  return arrival || inner_is_over_;
}

/// block: not before the end, or (until_arrival) when a message can be handed over.
bool DeviceRun::go_on(bool block, bool until_arrival) {
  const device::Current current(parts_.at);
  while (!inner_is_over_) {
    hand_over();
    if (until_arrival && arrivals_.any()) return false;
    const bool has_waiting = num_handed_over_ < waiting_.size();
    const bool may_wait = block && faults_ == nullptr && !(until_arrival && has_waiting);
    if (take_next(may_wait, until_arrival || !block)) continue;
    if (faults_ != nullptr && ++num_misses_ % misses_per_hearing == 0) faults_->hear();
    if (!block) return false;
    std::this_thread::yield();
  }
  if (drains() && use_.has_wait && !until_arrival && num_begun_ > 0) {
    // Only the stream waits: what it is given from now on finds the data.
    must(parts_.at.driver->api.stream_wait_event(use_.wait, last_drain().get(), 0), *parts_.at.driver,
         "let a stream wait");
    return true;
  }
  const bool is_over = !drains() || are_drained(block);
  hand_over();
  return is_over && !(until_arrival && arrivals_.any());
}

std::int64_t DeviceRun::num_events() const {
  return num_events_ + (inner_->run ? inner_->run->num_events() : 0);
}

std::string DeviceRun::waits_for() const {
  return inner_->run && !inner_is_over_ ? inner_->run->waits_for() : "a device";
}

void DeviceRun::cancel() noexcept {
  is_given_up_ = true;
  if (inner_->run) inner_->run->cancel();
  if (!parts_.at.is_on_device()) return;
  try {  // the user's memory is the user's again
    const device::Current current(parts_.at);
    for (const device::Stream* const stream : {&out_, &in_}) {
      begun_.record(stream->get());
      begun_.wait();
    }
  } catch (...) {
    // The device is lost.
  }
}

void DeviceRun::describe(ExchangeInfo& info) const {
  if (inner_->run) inner_->run->describe(inner_->info);
  info = inner_->info;
  info.device = parts_.says;
}

}  // namespace nuice::mpi
