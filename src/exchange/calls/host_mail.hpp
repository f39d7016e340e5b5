// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks of a host that need no plan: in memory that they share, with a slot for each pair of ranks.
//
// All calls of a communicator are numbered, alike on all ranks. In call k rank i writes what it has for j, and its bytes, into slot k mod 2
// from i to j; what does not fit it sends by MPI, and writes the bytes only. A slot is written again when its reader has finished the
// call before in it. So j sees at once where bytes differ, and, as i says when it has written all of a call, where a message will
// not come.
//
// Why no rank waits forever: call k waits for what others write in k, which needs room only, and for room until they have finished
// k - 2. So the first call that some rank has not finished ends when all ranks have come to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exchange/bind/whole_messages.hpp"
#include "exchange/shared_memory/mailboxes.hpp"
#include "mpi/communicator.hpp"
#include "mpi/host/shared_segment.hpp"
#include "mpi/requests.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// From each rank to each other one.
inline constexpr Number mail_slots = least_slots;

/// Of all pairs of ranks of a host.
class HostMail {
 public:
  /// In zeroed memory. bytes: of the message, whether it stands here or not.
  struct Slot {
    std::atomic<Number> call;
    std::int64_t bytes;
    std::byte message[1];
  };

  /// Collective. near: the ranks of this host, ascending. Without memory all messages go by MPI.
  HostMail(const Communicator& comm, std::vector<Rank> near);

  std::span<const Rank> near() const { return near_; }
  bool has_memory() const { return memory_.data() != nullptr; }
  bool is_oversubscribed() const { return is_oversubscribed_; }
  /// The largest message that fits a slot.
  Bytes room_bytes() const { return has_memory() ? room_bytes_ : 0; }
  std::size_t index_of(Rank rank) const;
  Slot& slot_to(std::size_t reader, Number call) const { return slot(me_, reader, call); }
  const Slot& slot_from(std::size_t writer, Number call) const { return slot(writer, me_, call); }

  bool has_room(std::size_t reader, Number call) const {
    return has_reached(line(reader).finished, call - mail_slots);
  }
  bool has_written(std::size_t writer, Number call) const { return has_reached(line(writer).written, call); }
  void say_written(Number call) const { line(me_).written.store(call, std::memory_order_release); }
  void say_finished(Number call) const { line(me_).finished.store(call, std::memory_order_release); }

 private:
  struct Line {
    alignas(cache_line_bytes) std::atomic<Number> finished;
    alignas(cache_line_bytes) std::atomic<Number> written;
  };

  Line& line(std::size_t index) const { return reinterpret_cast<Line*>(memory_.data())[index]; }
  Slot& slot(std::size_t writer, std::size_t reader, Number call) const;

  std::vector<Rank> near_;
  std::size_t me_ = 0;
  Bytes room_bytes_ = 0;
  std::size_t slot_bytes_ = 0;
  SharedSegment memory_;
  bool is_oversubscribed_ = false;
};

/// One rank's messages with ranks of its host, in as many calls as they stay the same.
class NearCall {
 public:
  /// Does not communicate. Messages of one pair are matched in their order.
  NearCall(const HostMail& mail, const Communicator& comm, int tag, std::span<const Outgoing> sends,
           std::span<const Incoming> receives);

  bool has_requests() const { return sends_.size() + receives_.size() > 0; }
  void start_receives();
  /// False: some reader has no room yet, and it must be called again.
  bool write(Number call);
  /// Whether all has come and left. Throws Error mismatch where bytes differ.
  bool advance(Number call);
  /// After an error: nothing is received any more.
  void cancel() noexcept { receives_.cancel_receives(); }
  void await_sends(Rank gone) noexcept { sends_.await_sends(gone); }

 private:
  /// All that goes from one rank to another.
  struct Letter {
    std::size_t index;  // of the partner, on the host
    Rank partner;
    Bytes bytes;
    std::vector<SharedCopy> copies;
    bool is_by_mpi;
  };
  template <typename Message>
  std::vector<Letter> letters_of(std::span<const Message> messages, Requests& requests, int tag);
  void read(Number call);
  void require_same(const Letter& letter, Number call) const;

  const HostMail& mail_;
  const Communicator& comm_;
  // In this order: letters fill what is before them.
  Requests sends_;
  Requests receives_;
  std::vector<Letter> outgoing_;
  std::vector<Letter> incoming_;
  std::vector<std::uint32_t> unread_;  // of incoming_, the first num_unread_ of them

  // of the running call
  std::size_t num_written_ = 0;
  std::size_t num_unread_ = 0;
  bool are_received_ = false;
};

}  // namespace nuice::mpi
