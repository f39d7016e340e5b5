// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/point_to_point.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "am/endpoint_core.hpp"
#include "am/transport/record.hpp"

namespace nuice::am::mpi {
namespace {

constexpr int message_tag = 0;
constexpr int first_bulk_tag = 1;
constexpr std::size_t num_slots = 32;
/// Messages up to this size (with header) have slots of their own. There are enough slots for all credits,
/// because messages to a rank that computes may occupy them all.
constexpr std::size_t small_bytes = 128;
constexpr std::size_t num_small_slots = 256;
/// From this size on a separate transfer costs less than two copies.
constexpr std::size_t bulk_min = 16384;
constexpr std::size_t chunk_bytes = std::size_t{1} << 30;  // MPI counts with int

/// Frees the request of a send. Returns whether MPI still uses its buffer. Does not wait, because the
/// receiver may never answer.
bool give_up(MPI_Request& request) {
  if (request == MPI_REQUEST_NULL) return false;
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (done == 0) MPI_Request_free(&request);
  return done == 0;
}

}  // namespace

SendSlots::SendSlots(std::size_t slots, std::size_t slot_bytes, Order order)
    : order_(order), memory_(std::make_unique_for_overwrite<std::byte[]>(slots * slot_bytes)), slots_(slots) {
  for (std::size_t i = 0; i < slots; ++i) slots_[i].bytes = memory_.get() + i * slot_bytes;
}

SendSlots::~SendSlots() {
  if (is_finalized()) return;
  bool in_use = false;
  for (Slot& slot : slots_) in_use |= give_up(slot.request);
  if (in_use) (void)memory_.release();  // left to MPI
}

/// Whether MPI no longer uses the slot.
bool SendSlots::is_free(Slot& slot) {
  int done = 1;
  if (slot.request != MPI_REQUEST_NULL) must(MPI_Test(&slot.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

// Uses slots cyclically, so that the slot that is tested has the oldest send.
SendSlots::Slot* SendSlots::free() {
  if (order_ == Order::same_first && is_free(slots_[last_])) return &slots_[last_];
  const std::size_t oldest = last_ + 1 == slots_.size() ? 0 : last_ + 1;
  if (!is_free(slots_[oldest])) return nullptr;
  last_ = oldest;
  return &slots_[oldest];
}

PointToPoint::PointToPoint(MPI_Comm parent, const Options& options, const Host& host)
    : comm_(parent, options.watchdog_s),
      max_message_bytes_(options.max_message_bytes),
      oversubscribed_(host.oversubscribed),
      stride_((sizeof(Header) + options.max_message_bytes + 63) / 64 * 64),
      memory_(
          std::make_unique_for_overwrite<std::byte[]>(stride_ * static_cast<std::size_t>(options.receives))),
      receives_(static_cast<std::size_t>(options.receives), MPI_REQUEST_NULL),
      credits_max_(options.credits),
      credits_(static_cast<std::size_t>(comm_.num_ranks()), options.credits),
      owed_(static_cast<std::size_t>(comm_.num_ranks()), 0),
      small_slots_(num_small_slots, small_bytes, SendSlots::Order::same_first),
      slots_(num_slots, stride_, SendSlots::Order::in_turn),
      deaths_(comm_, host.neighbours) {
  int* tag_ub = nullptr;
  int found = 0;
  must(MPI_Comm_get_attr(comm_.get(), MPI_TAG_UB, static_cast<void*>(&tag_ub), &found), "MPI_Comm_get_attr");
  max_tag_ = found != 0 ? *tag_ub : 32767;
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    must(MPI_Recv_init(buffer(i), static_cast<int>(sizeof(Header) + max_message_bytes_), MPI_BYTE,
                       MPI_ANY_SOURCE, message_tag, comm_.get(), &receives_[i]),
         "MPI_Recv_init");
    must(MPI_Start(&receives_[i]), "MPI_Start");
  }
}

// After a quiesce() only receives and perhaps credits are in flight. After an error there may be other
// messages. MPI then keeps their buffers, because this rank must not wait for a rank that does not answer.
PointToPoint::~PointToPoint() {
  if (is_finalized()) return;
  for (MPI_Request& request : receives_) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
  bool in_use = false;
  for (CreditSend& send : credit_sends_) in_use |= give_up(send.request);
  if (in_use) (void)new (std::nothrow) std::deque<CreditSend>(std::move(credit_sends_));  // left to MPI
}

bool PointToPoint::try_send(Rank dst, Header header, std::span<const std::byte> a,
                            std::span<const std::byte> b) {
  const auto to = static_cast<std::size_t>(dst);
  if (credits_[to] == 0) return false;
  header.bytes = static_cast<std::uint32_t>(a.size() + b.size());
  header.credits = static_cast<std::uint8_t>(owed_[to]);
  const std::size_t bytes = sizeof header + header.bytes;
  SendSlots::Slot* const slot = bytes <= small_bytes ? small_slots_.free() : slots_.free();
  if (slot == nullptr) return false;
  write_record(slot->bytes, header, a, b);
  must(MPI_Isend(slot->bytes, static_cast<int>(bytes), MPI_BYTE, dst, message_tag, comm_.get(),
                 &slot->request),
       "MPI_Isend");
  lull_.sent();
  owed_[to] = 0;
  --credits_[to];
  return true;
}

void PointToPoint::give_back_credits(Rank dst) {
  while (!credit_sends_.empty()) {
    int done = 0;
    must(MPI_Test(&credit_sends_.front().request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) break;
    credit_sends_.pop_front();
  }
  const auto to = static_cast<std::size_t>(dst);
  CreditSend& send = credit_sends_.emplace_back();
  send.header = {
      .bytes = 0, .handler = 0, .kind = Kind::transport, .credits = static_cast<std::uint8_t>(owed_[to])};
  owed_[to] = 0;
  must(MPI_Isend(&send.header, sizeof send.header, MPI_BYTE, dst, message_tag, comm_.get(), &send.request),
       "MPI_Isend");
}

void PointToPoint::finish_receive(Rank src, const Header& header) {
  const auto from = static_cast<std::size_t>(src);
  credits_[from] += header.credits;
  must(MPI_Start(&receives_[head_]), "MPI_Start");
  if (++head_ == receives_.size()) head_ = 0;
  if (header.kind != Kind::transport && ++owed_[from] * 2 >= credits_max_) give_back_credits(src);
}

int PointToPoint::poll(Inbox& inbox, int limit) {
  if (!bulk_receives_.empty()) poll_bulk(inbox);
  int handled = 0;
  while (handled < limit) {
    int arrived = 0;
    MPI_Status status;
    must(MPI_Test(&receives_[head_], &arrived, &status), "MPI_Test");
    if (arrived == 0) break;
    const std::byte* const record = buffer(head_);
    Header header;
    std::memcpy(&header, record, sizeof header);
    lull_.arrived(header.bytes <= small_bytes);
    const Rank src = status.MPI_SOURCE;
    if (header.kind != Kind::transport) {
      ++handled;
      try {
        inbox.core().deliver(src, header, record + sizeof header);
      } catch (...) {
        finish_receive(src, header);
        throw;
      }
    }
    finish_receive(src, header);
  }
  lull_.polled(handled);
  return handled;
}

std::size_t PointToPoint::bulk_min_bytes() const { return bulk_min; }

std::uint64_t PointToPoint::start_bulk_send(Rank dst, std::span<const std::byte> data) {
  const std::uint64_t key = next_key_++;
  const int tag =
      first_bulk_tag + static_cast<int>(key % static_cast<std::uint64_t>(max_tag_ - first_bulk_tag));
  std::vector<MPI_Request>& requests = bulk_sends_[key];
  for (std::size_t at = 0; at < data.size(); at += chunk_bytes) {
    const auto count = static_cast<int>(std::min(chunk_bytes, data.size() - at));
    must(MPI_Isend(data.data() + at, count, MPI_BYTE, dst, tag, comm_.get(), &requests.emplace_back()),
         "MPI_Isend");
  }
  return key;
}

bool PointToPoint::bulk_sent(std::uint64_t key) {
  const auto found = bulk_sends_.find(key);
  int done = 0;
  must(MPI_Testall(static_cast<int>(found->second.size()), found->second.data(), &done, MPI_STATUSES_IGNORE),
       "MPI_Testall");
  if (done != 0) bulk_sends_.erase(found);
  return done != 0;
}

void PointToPoint::start_bulk_receive(Rank src, std::uint64_t key, std::span<std::byte> data,
                                      std::uint64_t cookie) {
  const int tag =
      first_bulk_tag + static_cast<int>(key % static_cast<std::uint64_t>(max_tag_ - first_bulk_tag));
  BulkReceive& receive = bulk_receives_.emplace_back(BulkReceive{cookie, {}});
  for (std::size_t at = 0; at < data.size(); at += chunk_bytes) {
    const auto count = static_cast<int>(std::min(chunk_bytes, data.size() - at));
    must(
        MPI_Irecv(data.data() + at, count, MPI_BYTE, src, tag, comm_.get(), &receive.requests.emplace_back()),
        "MPI_Irecv");
  }
}

void PointToPoint::poll_bulk(Inbox& inbox) {
  for (std::size_t i = 0; i < bulk_receives_.size(); ++i) {
    std::vector<MPI_Request>& requests = bulk_receives_[i].requests;
    int done = 0;
    must(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
         "MPI_Testall");
    if (done == 0) continue;
    const std::uint64_t cookie = bulk_receives_[i].cookie;
    bulk_receives_.erase(bulk_receives_.begin() + static_cast<std::ptrdiff_t>(i));
    inbox.bulk_arrived(cookie);  // may throw, and may start other receives
    return;
  }
}

}  // namespace nuice::am::mpi
