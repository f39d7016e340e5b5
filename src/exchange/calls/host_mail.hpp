// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks of a host that need no plan: in memory that they share, with a slot for each pair of ranks.
//
// All calls of a communicator are numbered, alike on all ranks. In call k rank i writes what it has for j, and its bytes, into slot k mod 2
// from i to j; what does not fit there into its pool, as long as that has room, and the slot says where. What finds none is sent by MPI, and
// the slot says so. A slot and a pool are written again when their readers have finished the call before in them. So j sees at once where
// bytes differ, and, as i says when it has written all of a call, where a message will not come.
//
// Messages that are too long for memory are not known here, but for the ranks that they come from: where one end has a short one, no
// rank may wait for the other end.
//
// Why no rank waits forever: call k waits for what others write in k, which needs room only, and for room until they have finished
// k - 2. So the first call that some rank has not finished ends when all ranks have come to it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/support/cache_line.hpp"
#include "core/support/no_index.hpp"
#include "core/support/round_up.hpp"
#include "exchange/bind/whole_messages.hpp"
#include "exchange/shared_memory/mailboxes.hpp"
#include "mpi/communicator.hpp"
#include "mpi/host/shared_segment.hpp"
#include "mpi/requests.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// From each rank to each other one.
inline constexpr Number mail_slots = least_slots;

/// Where a message lies, if not in the pool that its writer has for the call.
enum MailPlace : std::int64_t { in_slot = -1, by_mpi = -2 };

/// Of all pairs of ranks of a host.
class HostMail {
 public:
  /// In zeroed memory. It fills mail_slot_bytes; short messages follow their numbers at once.
  struct Slot {
    std::atomic<Number> call;
    std::int64_t bytes;
    std::int64_t place;  ///< In the pool, or a MailPlace.
    std::byte message[1];
  };

  /// Collective. NUICE_OPTIONS of rank 0 holds: what its hosts are, and the watchdog that comm gets. Without memory all messages go by MPI.
  explicit HostMail(const Communicator& comm);

  /// The ranks of this host, ascending.
  std::span<const Rank> near() const { return near_; }
  bool is_near(Rank rank) const { return std::ranges::binary_search(near_, rank); }
  bool has_memory() const { return memory_.data() != nullptr; }
  bool is_oversubscribed() const { return is_oversubscribed_; }
  /// Whether all that one rank sends another is short enough.
  bool carries(Rank partner, Bytes bytes) const;
  std::size_t index_of(Rank rank) const;
  /// Of this rank, for one call.
  Bytes pool_bytes() const { return static_cast<Bytes>(pool_bytes_); }
  Slot& slot_to(std::size_t reader, Number call) const { return slot(me_, reader, call); }
  const Slot& slot_from(std::size_t writer, Number call) const { return slot(writer, me_, call); }
  std::byte* message_to(std::size_t reader, Number call) const { return message(me_, reader, call); }
  /// Requires that it does not go by MPI.
  const std::byte* message_from(std::size_t writer, Number call) const { return message(writer, me_, call); }

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
  std::byte* message(std::size_t writer, std::size_t reader, Number call) const;

  std::vector<Rank> near_;
  std::size_t me_ = 0;
  std::size_t pool_bytes_ = 0;
  SharedSegment memory_;
  bool is_oversubscribed_ = false;
};

/// Messages in pools begin at multiples of it.
inline constexpr Bytes mail_alignment = cache_line_bytes;
/// The longest that stands in its slot. The slots of 64 ranks take 2 MiB, a sixteenth of what their pools
/// take.
inline constexpr Bytes mail_slot_bytes = 4 * cache_line_bytes;
inline constexpr auto mail_slot_room =
    static_cast<Bytes>(mail_slot_bytes - offsetof(HostMail::Slot, message));

/// Gives places to one call's messages.
class MailPlaces {
 public:
  explicit MailPlaces(const HostMail& mail) : left_(mail.pool_bytes()) {}
  std::int64_t next(Bytes bytes) {
    if (bytes <= mail_slot_room) return in_slot;
    const Bytes taken = round_up(bytes, mail_alignment);
    if (taken > left_) return by_mpi;
    left_ -= taken;
    return left_;
  }

 private:
  Bytes left_;
};

/// One rank's messages with ranks of its host, in as many calls as they stay the same.
class NearCall {
 public:
  /// Does not communicate. Those of the given messages that the mail carries; messages of one pair are matched in their order.
  NearCall(const HostMail& mail, const Communicator& comm, int tag, std::span<const Outgoing> sends,
           std::span<const Incoming> receives);

  /// Whether it may come to wait in MPI.
  bool may_need_mpi() const { return sends_.size() + receives_.size() > 0; }
  void start();
  /// Whether all has come and left. Throws Error mismatch where bytes differ.
  bool advance(Number call);
  /// Throws Error mismatch where a rank has written a short message and a long one is expected. For now and then.
  void look_for_shorter(Number call) const;
  /// After an error: nothing is received any more.
  void cancel() noexcept { receives_.cancel_receives(); }
  void await_sends(Rank gone) noexcept { sends_.await_sends(gone); }

 private:
  /// All that goes from one rank to another.
  struct Letter {
    std::size_t index = 0;  // of the partner, on the host
    Rank partner = 0;
    Bytes bytes = 0;
    std::int64_t place = in_slot;  // of one to be sent
    std::vector<SharedCopy> copies = {};
    std::size_t first_request = no_index;  // of those by MPI
  };
  template <typename Message>
  std::vector<Letter> letters_of(std::span<const Message> messages) const;
  void add_requests(Letter& letter, Requests::Mode mode, Requests& requests) const;
  bool write(Number call);
  void read(Number call);
  void receive_by_mpi(Letter& letter);
  [[noreturn]] void fail_on_bytes(const Letter& letter, Bytes sent) const;
  Bytes bytes_on_the_way(Rank from) const;

  const HostMail& mail_;
  const Communicator& comm_;
  int tag_;
  Requests sends_;
  Requests receives_;
  std::vector<Letter> outgoing_;
  std::vector<Letter> incoming_;
  std::vector<Letter> longer_;         // to be received, not carried
  std::vector<std::uint32_t> unread_;  // of incoming_, the first num_unread_ of them

  // of the running call
  std::size_t num_written_ = 0;
  std::size_t num_unread_ = 0;
  bool is_written_ = false;
};

}  // namespace nuice::mpi
