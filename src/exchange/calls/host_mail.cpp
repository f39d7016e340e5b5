// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/calls/host_mail.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/support/cache_line.hpp"
#include "core/text/names.hpp"
#include "mpi/call.hpp"
#include "mpi/host/cores.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Longer messages are faster with MPI's one copy than with two: all to all, memory is 1.1 to 1.7 times as
/// fast as MPI with 16 KiB, and 0.6 to 0.9 times with 64 KiB (docs/adr/0043).
constexpr std::size_t most_bytes_of_a_slot = 32 * 1024;
/// Of a rank, for what it writes: slots of the most bytes for 8 ranks. 64 ranks take 32 MiB of a host, in
/// pages that are there once used.
constexpr std::size_t bytes_of_a_rank = std::size_t{8} * mail_slots * most_bytes_of_a_slot;

}  // namespace

HostMail::HostMail(const Communicator& comm, std::vector<Rank> near) : near_(std::move(near)) {
  if (near_.size() < 2) return;
  me_ = index_of(comm.rank());
  slot_bytes_ = std::clamp(bytes_of_a_rank / mail_slots / near_.size() / cache_line_bytes * cache_line_bytes,
                           2 * cache_line_bytes, most_bytes_of_a_slot);
  room_bytes_ = static_cast<Bytes>(slot_bytes_ - offsetof(Slot, message));
  const std::size_t all = near_.size() * (sizeof(Line) + near_.size() * mail_slots * slot_bytes_);
  memory_ = SharedSegment(comm, near_, all);
  is_oversubscribed_ = outnumber_cores(comm, near_);
}

std::size_t HostMail::index_of(Rank rank) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(near_, rank) - near_.begin());
}

HostMail::Slot& HostMail::slot(std::size_t writer, std::size_t reader, Number call) const {
  const std::size_t number = (writer * near_.size() + reader) * mail_slots + call % mail_slots;
  return *reinterpret_cast<Slot*>(memory_.data() + near_.size() * sizeof(Line) + number * slot_bytes_);
}

NearCall::NearCall(const HostMail& mail, const Communicator& comm, int tag, std::span<const Outgoing> sends,
                   std::span<const Incoming> receives)
    : mail_(mail),
      comm_(comm),
      outgoing_(letters_of(sends, sends_, tag)),
      incoming_(letters_of(receives, receives_, tag)),
      unread_(incoming_.size()) {
  std::iota(unread_.begin(), unread_.end(), 0U);
}

template <typename Message>
std::vector<NearCall::Letter> NearCall::letters_of(std::span<const Message> messages, Requests& requests,
                                                   int tag) {
  constexpr bool is_send = std::is_same_v<Message, Outgoing>;
  std::vector<Letter> letters;
  for (const auto& [partner, data, count, type] : messages) {
    const Bytes bytes = count * size_of(type);
    if (bytes == 0) continue;
    auto letter = std::ranges::find(letters, partner, &Letter::partner);
    if (letter == letters.end())
      letter = letters.insert(letter, {mail_.index_of(partner), partner, 0, {}, false});
    const Segment segment = {const_cast<std::byte*>(static_cast<const std::byte*>(data)), count, type};
    letter->copies.push_back({segment, letter->bytes, bytes, are_plain_bytes(type)});
    letter->bytes += bytes;
  }
  for (Letter& letter : letters) {
    letter.is_by_mpi = letter.bytes > mail_.room_bytes();
    if (!letter.is_by_mpi) continue;
    for (const SharedCopy& copy : letter.copies)
      requests.add(is_send ? Requests::Mode::send : Requests::Mode::receive, copy.segment, letter.partner,
                   tag, comm_.get());
    letter.copies.clear();
  }
  return letters;
}

void NearCall::start_receives() {
  num_written_ = 0;
  num_unread_ = mail_.has_memory() ? incoming_.size() : 0;
  are_received_ = receives_.size() == 0;
  receives_.start(0, receives_.size());
}

bool NearCall::write(Number call) {
  if (!mail_.has_memory()) num_written_ = outgoing_.size();
  for (; num_written_ < outgoing_.size(); ++num_written_) {
    const Letter& letter = outgoing_[num_written_];
    if (!mail_.has_room(letter.index, call)) return false;
    HostMail::Slot& slot = mail_.slot_to(letter.index, call);
    slot.bytes = letter.bytes;
    for (const SharedCopy& copy : letter.copies) copy.to_memory(slot.message, comm_.get());
    slot.call.store(call, std::memory_order_release);
  }
  if (mail_.has_memory()) mail_.say_written(call);
  sends_.start(0, sends_.size());
  return true;
}

void NearCall::require_same(const Letter& letter, Number call) const {
  const HostMail::Slot& slot = mail_.slot_from(letter.index, call);
  const bool is_here = slot.call.load(std::memory_order_acquire) == call;
  if (is_here && slot.bytes == letter.bytes) return;
  throw Error(ErrorCode::mismatch, pair_name(letter.partner, comm_.rank()) + ": " +
                                       std::to_string(is_here ? slot.bytes : 0) + " bytes are sent, " +
                                       std::to_string(letter.bytes) + " are expected");
}

void NearCall::read(Number call) {
  for (std::size_t i = 0; i < num_unread_;) {
    const Letter& letter = incoming_[unread_[i]];
    const HostMail::Slot& slot = mail_.slot_from(letter.index, call);
    // In this order: what is written before it says so is seen here.
    const bool is_all = mail_.has_written(letter.index, call);
    if (slot.call.load(std::memory_order_acquire) != call && !is_all) {
      ++i;
      continue;
    }
    require_same(letter, call);
    for (const SharedCopy& copy : letter.copies) copy.from_memory(slot.message, comm_.get());
    std::swap(unread_[i], unread_[--num_unread_]);
  }
}

bool NearCall::advance(Number call) {
  if (num_unread_ > 0) read(call);
  try {
    if (!are_received_) are_received_ = receives_.test(0, receives_.size());
  } catch (const Error&) {
    if (num_unread_ > 0) read(call);  // what was too long for its receive
    throw;
  }
  if (num_unread_ > 0 || !are_received_ || (sends_.size() > 0 && !sends_.test(0, sends_.size())))
    return false;
  if (mail_.has_memory()) mail_.say_finished(call);
  return true;
}

}  // namespace nuice::mpi
