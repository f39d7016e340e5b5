// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/calls/host_mail.hpp"

#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "core/text/names.hpp"
#include "exchange/exec/direct_run.hpp"
#include "exchange/plan/options.hpp"
#include "flow/process.hpp"
#include "mpi/call.hpp"
#include "mpi/host/cores.hpp"
#include "mpi/host/host_ranks.hpp"
#include "mpi/host/looking.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// The largest message that goes through shared memory. Larger messages are faster with MPI, which copies
/// once instead of twice. In an all to all, shared memory is 1.1 to 1.7 times as fast as MPI with 16 KiB, but
/// 0.6 to 0.9 times with 64 KiB (docs/adr/0043).
constexpr Bytes most_letter_bytes = 32 * 1024;
/// The maximum size of a rank's pool for a call: the longest messages to 8 ranks. With 64 ranks a host needs
/// 34 MiB.
constexpr Bytes most_pool_bytes = 8 * most_letter_bytes;

}  // namespace

HostMail::HostMail(const Communicator& comm) {
  const PlanOptions options = with_environment(comm, {}).options;
  comm.set_watchdog(options.watchdog_s);
  if (options.hosts == auto_name) near_ = ranks_of_this_host(comm);
  if (std::ssize(near_) < comm.num_ranks()) flow::govern_process();
  if (near_.size() < 2) return;
  me_ = index_of(comm.rank());
  pool_bytes_ =
      static_cast<std::size_t>(std::min<Bytes>(most_pool_bytes, most_letter_bytes * (std::ssize(near_) - 1)));
  const std::size_t of_a_rank = near_.size() * static_cast<std::size_t>(mail_slot_bytes) + pool_bytes_;
  memory_ = SharedSegment(comm, near_, near_.size() * (sizeof(Line) + mail_slots * of_a_rank));
  is_oversubscribed_ = outnumber_cores(comm, near_);
}

std::size_t HostMail::index_of(Rank rank) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(near_, rank) - near_.begin());
}

bool HostMail::carries(Rank partner, Bytes bytes) const {
  return has_memory() && bytes <= most_letter_bytes && is_near(partner);
}

HostMail::Slot& HostMail::slot(std::size_t writer, std::size_t reader, Number call) const {
  const std::size_t number = (writer * near_.size() + reader) * mail_slots + call % mail_slots;
  return *reinterpret_cast<Slot*>(memory_.data() + near_.size() * sizeof(Line) +
                                  number * static_cast<std::size_t>(mail_slot_bytes));
}

std::byte* HostMail::message(std::size_t writer, std::size_t reader, Number call) const {
  Slot& from = slot(writer, reader, call);
  if (from.place == in_slot) return from.message;
  auto* const pools = reinterpret_cast<std::byte*>(&slot(near_.size(), 0, 0));
  return pools + (writer * mail_slots + call % mail_slots) * pool_bytes_ + from.place;
}

NearCall::NearCall(const HostMail& mail, const Communicator& comm, int tag, std::span<const Outgoing> sends,
                   std::span<const Incoming> receives)
    : mail_(mail), comm_(comm), tag_(tag), outgoing_(letters_of(sends)), incoming_(letters_of(receives)) {
  const auto is_longer = [&](const Letter& letter) { return !mail.carries(letter.partner, letter.bytes); };
  std::erase_if(outgoing_, is_longer);
  std::ranges::copy_if(incoming_, std::back_inserter(longer_), is_longer);
  std::erase_if(incoming_, is_longer);
  unread_.resize(incoming_.size());
  std::iota(unread_.begin(), unread_.end(), 0U);
  MailPlaces places(mail);
  for (Letter& letter : outgoing_) {
    letter.place = places.next(letter.bytes);
    if (letter.place == by_mpi) add_requests(letter, Requests::Mode::send, sends_);
  }
}

template <typename Message>
std::vector<NearCall::Letter> NearCall::letters_of(std::span<const Message> messages) const {
  std::vector<Letter> letters;
  if (!mail_.has_memory()) return letters;
  for (const auto& [partner, data, count, type] : messages) {
    const Bytes bytes = count * size_of(type);
    if (bytes == 0 || !mail_.is_near(partner)) continue;
    auto letter = std::ranges::find(letters, partner, &Letter::partner);
    if (letter == letters.end())
      letter = letters.insert(letter, {.index = mail_.index_of(partner), .partner = partner});
    const Segment segment = {const_cast<std::byte*>(static_cast<const std::byte*>(data)), count, type};
    letter->copies.push_back({segment, letter->bytes, bytes, are_plain_bytes(type)});
    letter->bytes += bytes;
  }
  return letters;
}

void NearCall::add_requests(Letter& letter, Requests::Mode mode, Requests& requests) const {
  letter.first_request = requests.size();
  for (const SharedCopy& copy : letter.copies)
    requests.add(mode, copy.segment, letter.partner, tag_, comm_.get());
}

void NearCall::start() {
  num_written_ = 0;
  num_unread_ = incoming_.size();
  is_written_ = !mail_.has_memory();
}

/// Writes the remaining messages. Returns false if a reader has no room yet.
bool NearCall::write(Number call) {
  for (; num_written_ < outgoing_.size(); ++num_written_) {
    const Letter& letter = outgoing_[num_written_];
    if (!mail_.has_room(letter.index, call)) return false;
    HostMail::Slot& slot = mail_.slot_to(letter.index, call);
    slot.bytes = letter.bytes;
    slot.place = letter.place;
    if (letter.place == by_mpi)
      sends_.start(letter.first_request, letter.first_request + letter.copies.size());
    else
      for (const SharedCopy& copy : letter.copies)
        copy.to_memory(mail_.message_to(letter.index, call), comm_.get());
    slot.call.store(call, std::memory_order_release);
  }
  mail_.say_written(call);
  return true;
}

void NearCall::fail_on_bytes(const Letter& letter, Bytes sent) const {
  throw Error(ErrorCode::mismatch, pair_name(letter.partner, comm_.rank()) + ": " + std::to_string(sent) +
                                       " bytes are sent, " + std::to_string(letter.bytes) + " are expected");
}

/// Returns the size of a message that is too long for shared memory and whose sender has begun the call.
/// Returns 0 if there is no such message.
Bytes NearCall::bytes_on_the_way(Rank from) const {
  int is_there = 0;
  MPI_Status status;
  MPI_Count bytes = 0;
  // Asks several times, because MPI_Iprobe may look for the message before it takes in what has arrived.
  for (unsigned look = 0; look < looks_per_progress && is_there == 0; ++look)
    must(MPI_Iprobe(from, DirectRun::tag, comm_.get(), &is_there, &status), "MPI_Iprobe");
  if (is_there != 0) must(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
  return bytes;
}

/// Receives by MPI a message for which its sender's pool had no room.
void NearCall::receive_by_mpi(Letter& letter) {
  if (letter.first_request == no_index) add_requests(letter, Requests::Mode::receive, receives_);
  receives_.start(letter.first_request, letter.first_request + letter.copies.size());
}

void NearCall::read(Number call) {
  for (std::size_t i = 0; i < num_unread_;) {
    Letter& letter = incoming_[unread_[i]];
    const HostMail::Slot& slot = mail_.slot_from(letter.index, call);
    // `written` is read before `call`: if the sender has published `written`, all its messages are seen.
    const bool is_all = mail_.has_written(letter.index, call);
    const bool is_here = slot.call.load(std::memory_order_acquire) == call;
    if (!is_here && !is_all) {
      ++i;
      continue;
    }
    if (!is_here) fail_on_bytes(letter, bytes_on_the_way(letter.partner));
    if (slot.bytes != letter.bytes) fail_on_bytes(letter, slot.bytes);
    if (slot.place == by_mpi)
      receive_by_mpi(letter);
    else
      for (const SharedCopy& copy : letter.copies)
        copy.from_memory(mail_.message_from(letter.index, call), comm_.get());
    std::swap(unread_[i], unread_[--num_unread_]);
  }
}

void NearCall::look_for_shorter(Number call) const {
  for (const Letter& letter : longer_)
    if (const HostMail::Slot& slot = mail_.slot_from(letter.index, call);
        slot.call.load(std::memory_order_acquire) == call)
      fail_on_bytes(letter, slot.bytes);
}

bool NearCall::advance(Number call) {
  if (!is_written_) is_written_ = write(call);
  if (num_unread_ > 0) read(call);
  if (!is_written_ || num_unread_ > 0 || !receives_.test(0, receives_.size()) ||
      !sends_.test(0, sends_.size()))
    return false;
  if (mail_.has_memory()) mail_.say_finished(call);
  return true;
}

}  // namespace nuice::mpi
