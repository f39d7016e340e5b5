// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/staging/device_run.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "mpi/host/looking.hpp"

namespace nuice::mpi {

DeviceRun::DeviceRun(DeviceParts parts, std::span<const Partner> sources, Rank self, Arrivals& arrivals,
                     const StreamUse& use, Faults* faults)
    : parts_(std::move(parts)),
      rank_(self),
      arrivals_(arrivals),
      use_(use),
      faults_(faults),
      fills_(parts_.at, parts_.sends, parts_.chunk_bytes),
      drains_(parts_.at, parts_.receives, parts_.chunk_bytes) {
  for (const Partner& source : sources)
    if (source.rank != self && source.bytes > 0) arrivals_.expect_pieces(source.rank, 1);
  waiting_.reserve(sources.size());
  if (!parts_.at.is_on_device()) return;
  const device::Current current(parts_.at);
  begun_ = device::Event(parts_.at);
  self_copied_ = device::Event(parts_.at);
}

DeviceRun::~DeviceRun() {
  if (is_given_up_) {  // MPI may still write messages of other ranks
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
    fills_.await_all();
    if (drains_.last() != nullptr) drains_.last()->wait();
  } catch (...) {
    // The device is lost, so nothing runs on it any more.
  }
}

void DeviceRun::carry_out_by(std::unique_ptr<Exchange::State> inner) { inner_ = std::move(inner); }

void DeviceRun::start() {
  inner_is_over_ = false;
  last_source_ = no_rank;
  num_handed_over_ = 0;
  waiting_.clear();
  drains_.begin();
  if (!parts_.at.is_on_device()) {
    inner_->start();
    return;
  }
  const device::Current current(parts_.at);
  drains_.are_over(true);  // drains that the previous exchange left to a stream
  begin_on_streams();
  fills_.begin();
  if (parts_.drains_last) fills_.precede(drains_.stream());
  const bool pieces_wait = inner_->run && inner_->run->awaits_copies();
  // The first chunk is sent at once, because the program may compute after start(). Later chunks are filled
  // while earlier ones are in flight.
  fills_.await(pieces_wait ? std::min(parts_.chunk_bytes, parts_.sends.bytes()) : parts_.sends.bytes());
  fills_.await(std::min(parts_.start_end, parts_.sends.bytes()));
  inner_->start();
  finish_self();
}

/// Makes the run's streams wait for the work that the program has begun. If MPI reads device memory, this
/// function waits itself, because MPI does not know streams.
void DeviceRun::begin_on_streams() {
  begun_.record(use_.start);
  fills_.stream().wait_for(begun_.get());
  drains_.stream().wait_for(begun_.get());
  if (!parts_.self_waits) copy_self();
  if (parts_.reads_device) begun_.wait();
}

void DeviceRun::copy_self() {
  const device::Stream& stream = drains_.stream();
  for (const auto& [to, from, bytes] : parts_.self) stream.copy(to, from, bytes);
  if (!parts_.self.empty()) self_copied_.record(stream.get());
}

/// Completes the message of this rank to itself before start() returns, as an exchange of host memory does.
void DeviceRun::finish_self() {
  if (parts_.self_waits) {
    fills_.precede(drains_.stream());
    copy_self();
  }
  for (const Mirror::Range& range : parts_.receives.ranges()) {
    if (parts_.drains_self[range.partner] == 0) continue;
    parts_.receives.drain(range.begin, range.end, drains_.stream());
    self_copied_.record(drains_.stream().get());
  }
  self_copied_.wait();
}

void DeviceRun::await(const Block& sent) {
  if (sent.bytes > 0 && parts_.sends.holds(sent.at)) fills_.await(sent.at - parts_.sends.data() + sent.bytes);
}

bool DeviceRun::is_filled(const Block& sent) {
  if (sent.bytes == 0 || !parts_.sends.holds(sent.at)) return true;
  return fills_.is_filled(sent.at - parts_.sends.data() + sent.bytes);
}

void DeviceRun::land(const Block& received) { drains_.land(received); }

/// Takes a message that has arrived completely.
void DeviceRun::take(const Arrival& arrival) {
  ++num_events_;
  const Rank source = arrival.source.rank;
  if (source == rank_) return;
  const std::int64_t drain = drains_.take(arrival.index);
  // A rank that is listed several times has one message, whose parts arrive back to back.
  if (std::exchange(last_source_, source) == source) return;
  waiting_.push_back({arrivals_.index_of(source), drain});
}

void DeviceRun::hand_over() {
  if (drains_.any()) drains_.are_over(false);
  for (; num_handed_over_ < waiting_.size(); ++num_handed_over_) {
    const auto& [source, drain] = waiting_[num_handed_over_];
    if (drains_.any() && !drains_.is_known_over(drain)) return;
    arrivals_.land_piece(source);
  }
}

/// Takes what the inner exchange can hand over now. Returns false if there is nothing. Drains many messages
/// as one, unless the caller waits for single messages.
bool DeviceRun::take_next(bool may_wait, bool drains_at_once) {
  const std::optional<Arrival> arrival = inner_->next(may_wait);
  drains_.drain_landed();
  if (arrival) take(*arrival);
  inner_is_over_ = inner_->standing == Exchange::State::Standing::idle;
  const bool is_enough = inner_is_over_ || drains_at_once || drains_.pending_bytes() >= parts_.chunk_bytes;
  if (drains_.any() && drains_.has_taken() && is_enough && !inner_->arrivals.any()) drains_.drain_taken();
  return arrival || inner_is_over_;
}

/// Makes progress. With block, returns when the exchange is complete; with until_arrival, already when a
/// message can be handed over.
bool DeviceRun::go_on(bool block, bool until_arrival) {
  const device::Current current(parts_.at);
  while (!inner_is_over_) {
    hand_over();
    if (until_arrival && arrivals_.any()) return false;
    const bool has_waiting = num_handed_over_ < waiting_.size();
    const bool may_wait = block && faults_ == nullptr && !(until_arrival && has_waiting);
    if (take_next(may_wait, until_arrival || !block)) continue;
    if (faults_ != nullptr && ++num_misses_ % looks_per_progress == 0) faults_->hear();
    if (!block) return false;
    std::this_thread::yield();
  }
  if (drains_.any() && use_.has_wait && !until_arrival && drains_.last() != nullptr) {
    // Only the stream waits. Work that is put on it from now on finds the data.
    must(parts_.at.driver->api.stream_wait_event(use_.wait, drains_.last()->get(), 0), *parts_.at.driver,
         "let a stream wait");
    return true;
  }
  const bool is_over = !drains_.any() || drains_.are_over(block);
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
  try {  // afterwards nothing uses the user's memory
    const device::Current current(parts_.at);
    for (const device::Stream* const stream : {&fills_.stream(), &drains_.stream()}) {
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
