// SPDX-License-Identifier: BSD-3-Clause
// Carries short messages between ranks of a host through mailboxes in shared memory, without MPI. A message
// is copied in once and out once. The plan's executor carries larger messages and messages to other hosts at
// the same time.
//
//   start:    write all messages; start the other executor
//   advance:  read what has arrived; check for room for the next exchange; advance the other executor
//
// An exchange ends only when there is room to write the next one. So start() never waits. A rank that has
// started and then does something else, such as a receive of the program, delays no other rank.
//
// Why no rank waits forever: to read exchange k, a rank waits until its writers have called start(). Room for
// exchange k + 1 requires that readers have finished exchange k + 1 - slots, which is before k. So when all
// ranks have started k, all messages are written, all are read, and there is room.
//
// Cost of a message: two copies, and one cache line that moves from one core to another. A reader publishes
// once per exchange that it has finished. A writer reads this counter once in as many exchanges as a mailbox
// has slots.
#include <algorithm>
#include <numeric>
#include <utility>

#include "exchange/shared_memory/near_messages.hpp"
#include "mpi/call.hpp"
#include "mpi/host/looking.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {
namespace {

/// The slot of the exchange that follows after this number of exchanges is prefetched. A writer that is ahead
/// has already written the next slots. The next slot was prefetched in the previous exchange, so the slot
/// after it is prefetched now. A message of 8 or 64 bytes then takes 0.7 to 0.9 times as long as without
/// prefetching.
constexpr Number exchanges_ahead = 2;

class NearRun : public OuterRun {
 public:
  /// Not collective. others: the run of the other messages; null if there are none.
  NearRun(NearParts parts, Arrivals& arrivals, std::unique_ptr<Run> others);

 private:
  struct Message {
    Mailbox box;
    std::vector<SharedCopy> copies;
    Rank partner;
  };
  struct Outgoing : Message {
    const ReaderLine* reader;
    Number finished = 0;  // the reader's counter when this rank last read it
  };
  struct Incoming : Message {
    std::size_t source;  // index in the arrivals
  };

  ReaderLine& line_of(std::size_t index) const {
    return reinterpret_cast<ReaderLine*>(parts_.memory.data())[index];
  }
  Message message_of(const NearPlace& place, const std::vector<TableElements::Elements>& elements) const;
  bool has_room_for_next(Outgoing& message) const;
  void look_for_room();
  void write(const Outgoing& message);
  void read();

  void begin() override;
  void go_on() override;
  bool is_over() const override { return num_unread_ == 0 && num_with_room_ == outgoing_.size(); }
  void wait_a_little() override;
  void land_what_is_here() override;
  std::vector<Rank> own_waits_for() const override;

  NearParts parts_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<std::uint32_t> unread_;  // indices of messages; the first num_unread_ are still missing

  // State of the running exchange.
  Number number_ = 0;
  // how many of outgoing_, from the first on, have room for the next exchange
  std::size_t num_with_room_ = 0;
  std::size_t num_unread_ = 0;
};

}  // namespace

std::unique_ptr<Run> NearParts::around(std::unique_ptr<Run> others, Rank /*rank*/, Arrivals& arrivals) {
  return std::make_unique<NearRun>(std::move(*this), arrivals, std::move(others));
}

NearRun::NearRun(NearParts parts, Arrivals& arrivals, std::unique_ptr<Run> others)
    : OuterRun(arrivals, std::move(others)), parts_(std::move(parts)) {
  sort_by_partner(parts_.elements.sends);
  sort_by_partner(parts_.elements.receives);
  for (const NearPlace& place : parts_.sends)
    outgoing_.push_back({message_of(place, parts_.elements.sends), &line_of(place.partner_index)});
  for (const NearPlace& place : parts_.receives) {
    arrivals_.expect_pieces(place.partner, 1);
    incoming_.push_back({message_of(place, parts_.elements.receives), arrivals_.index_of(place.partner)});
  }
  unread_.resize(incoming_.size());
  std::iota(unread_.begin(), unread_.end(), 0U);
}

NearRun::Message NearRun::message_of(const NearPlace& place,
                                     const std::vector<TableElements::Elements>& elements) const {
  Message message{
      {parts_.memory.data() + place.begin, Mailbox::slot_bytes_for(place.bytes), parts_.num_slots},
      {},
      place.partner};
  add_copies(elements, place.partner, 0, message.copies);
  return message;
}

bool NearRun::has_room_for_next(Outgoing& message) const {
  const Number needed = number_ + 1 - parts_.num_slots;
  const auto is_enough = [&] { return static_cast<std::int32_t>(message.finished - needed) >= 0; };
  if (is_enough()) return true;
  message.finished = message.reader->finished.load(std::memory_order_acquire);
  return is_enough();
}

void NearRun::write(const Outgoing& message) {
  Slot& slot = message.box.slot(number_);
  for (const SharedCopy& copy : message.copies) copy.to_memory(slot.message, parts_.comm->get());
  slot.number.store(number_, std::memory_order_release);
  ++num_events_;
  if (arrivals_.trace().is_on()) arrivals_.trace().note(Trace::Kind::sent, message.partner);
}

void NearRun::begin() {
  ++number_;
  num_with_room_ = 0;
  num_unread_ = incoming_.size();
  for (const Outgoing& message : outgoing_) write(message);
}

void NearRun::look_for_room() {
  while (num_with_room_ < outgoing_.size() && has_room_for_next(outgoing_[num_with_room_])) ++num_with_room_;
}

void NearRun::read() {
  for (std::size_t i = 0; i < num_unread_;) {
    const Incoming& message = incoming_[unread_[i]];
    const Slot& slot = message.box.slot(number_);
    if (slot.number.load(std::memory_order_acquire) != number_) {
      ++i;
      continue;
    }
    __builtin_prefetch(&message.box.slot(number_ + exchanges_ahead));
    for (const SharedCopy& copy : message.copies) copy.from_memory(slot.message, parts_.comm->get());
    std::swap(unread_[i], unread_[--num_unread_]);
    ++num_events_;
    looks_ = 0;
    if (!follows_) continue;
    arrivals_.trace().note(Trace::Kind::landed, message.partner);
    arrivals_.land_piece(message.source);
  }
  if (num_unread_ == 0) line_of(parts_.index).finished.store(number_, std::memory_order_release);
}

void NearRun::go_on() {
  if (num_unread_ > 0) read();
  look_for_room();
  if (!is_over() && others_are_over_ && looks_ % looks_per_progress == looks_per_progress - 1)
    let_mpi_go_on(*parts_.comm, parts_.tag);
}

/// Waits before the next check for progress. While the other executor has messages, the core is given to
/// other processes, as MPI does.
void NearRun::wait_a_little() { wait_for_a_look(looks_, parts_.is_oversubscribed, !others_are_over_); }

void NearRun::land_what_is_here() {
  for (std::size_t i = num_unread_; i < unread_.size(); ++i)
    arrivals_.land_piece(incoming_[unread_[i]].source);
}

std::vector<Rank> NearRun::own_waits_for() const {
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < num_unread_; ++i) ranks.push_back(incoming_[unread_[i]].partner);
  for (std::size_t i = num_with_room_; i < outgoing_.size(); ++i) ranks.push_back(outgoing_[i].partner);
  return ranks;
}

}  // namespace nuice::mpi
