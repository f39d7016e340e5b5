// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/calls/staged_messages.hpp"

#include <algorithm>

#include "exchange/bind/messages.hpp"
#include "exchange/plan/bind_devices.hpp"

namespace nuice::mpi {
namespace {

Mirror mirror_of(const device::Location& at, const DeviceItems& items, std::size_t num_messages) {
  if (!at.is_on_device() || items.empty()) return {};
  const std::vector<std::size_t> order(num_messages, 0);
  return {at, items, order, false, DeviceOptions().chunk_bytes, std::vector<char>(num_messages, 0)};
}

template <typename Message>
std::vector<Message> mirrored(const Mirror& mirror, std::span<const Message> messages) {
  std::vector<Message> all(messages.begin(), messages.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& [rank, data, count, type] = all[i];
    const auto begin = mirror.find(0, i);
    if (!begin) continue;
    data = mirror.data() + *begin;
    count = bytes_of(count, type);
    type = MPI_BYTE;
  }
  return all;
}

}  // namespace

std::unique_ptr<StagedMessages> StagedMessages::of(std::span<const Outgoing> sends,
                                                   std::span<const Incoming> receives, Rank rank) {
  if (!any_on_device(sends, receives)) return nullptr;
  DeviceSides sides;
  sides.send = items_of(places_of(sends));
  sides.receive = items_of(places_of(receives));
  sides.locate(rank);
  return std::unique_ptr<StagedMessages>(new StagedMessages(sides, sends, receives));
}

StagedMessages::StagedMessages(const DeviceSides& sides, std::span<const Outgoing> sends,
                               std::span<const Incoming> receives)
    : at_(sides.at()), stream_(at_), event_(at_) {
  const device::Current current(at_);
  from_ = mirror_of(sides.send_at, sides.send, sends.size());
  into_ = mirror_of(sides.receive_at, sides.receive, receives.size());
  sends_ = mirrored(from_, sends);
  receives_ = mirrored(into_, receives);
}

template <typename Act>
void StagedMessages::on_stream(Act&& act) const {
  const device::Current current(at_);
  event_.record(nullptr);
  stream_.wait_for(event_.get());
  act();
  event_.record(stream_.get());
  event_.wait();
}

void StagedMessages::fetch() const {
  if (from_.bytes() > 0) on_stream([this] { from_.fill(0, from_.bytes(), stream_); });
}

void StagedMessages::deliver() const {
  if (into_.bytes() > 0) on_stream([this] { into_.drain(0, into_.bytes(), stream_); });
}

}  // namespace nuice::mpi
