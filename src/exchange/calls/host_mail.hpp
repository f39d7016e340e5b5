// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks of a host that need no plan: they pass through shared memory, with slots for each
// pair of ranks.
//
// The calls of a communicator have the same numbers on all ranks. In call k, rank i writes its message to
// rank j, with its size, into slot k mod 2 from i to j. If the message does not fit into the slot, it goes
// into the rank's pool, and the slot says where. If the pool is full, MPI sends the message, and the slot
// says so. A slot and a pool are overwritten only after their readers have finished the call that used them
// before. So j sees at once if sizes differ. And because i publishes when it has written all messages of a
// call, j also sees if a message will not come.
//
// Messages that are too long for shared memory are not handled here, but their senders are known. So if one
// end expects a long message and the other end sends a short one, neither waits for the other.
//
// Why no rank waits forever: call k waits for what other ranks write in call k. These ranks need only room,
// which they have when readers have finished call k - 2. So the first call that some rank has not finished
// ends when all ranks have entered it.
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

/// The number of slots from each rank to each other rank.
inline constexpr Number mail_slots = least_slots;

/// Where a message is that is not in its writer's pool.
enum MailPlace : std::int64_t { in_slot = -1, by_mpi = -2 };

/// The memory for messages between all pairs of ranks of a host.
class HostMail {
 public:
  /// A slot of mail_slot_bytes bytes in zeroed memory. A short message begins directly after these members.
  struct Slot {
    std::atomic<Number> call;
    std::int64_t bytes;
    std::int64_t place;  ///< Its offset in the pool, or a MailPlace.
    std::byte message[1];
  };

  /// Collective. Takes the hosts, and the watchdog for comm, from rank 0's NUICE_OPTIONS. Without shared
  /// memory, MPI carries all messages.
  explicit HostMail(const Communicator& comm);

  /// The ranks of this host, ascending.
  std::span<const Rank> near() const { return near_; }
  bool is_near(Rank rank) const { return std::ranges::binary_search(near_, rank); }
  bool has_memory() const { return memory_.data() != nullptr; }
  bool is_oversubscribed() const { return is_oversubscribed_; }
  /// Whether shared memory carries the messages between this rank and `partner`. bytes: the sum of all
  /// messages from one rank to the other in a call.
  bool carries(Rank partner, Bytes bytes) const;
  std::size_t index_of(Rank rank) const;
  /// The size of this rank's pool for one call.
  Bytes pool_bytes() const { return static_cast<Bytes>(pool_bytes_); }
  Slot& slot_to(std::size_t reader, Number call) const { return slot(me_, reader, call); }
  const Slot& slot_from(std::size_t writer, Number call) const { return slot(writer, me_, call); }
  std::byte* message_to(std::size_t reader, Number call) const { return message(me_, reader, call); }
  /// Requires that MPI does not carry the message.
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

/// The size of a slot. The slots of 64 ranks take 2 MiB, a sixteenth of the size of their pools.
inline constexpr Bytes mail_slot_bytes = 4 * cache_line_bytes;
inline constexpr auto mail_slot_room =
    static_cast<Bytes>(mail_slot_bytes - offsetof(HostMail::Slot, message));

/// Assigns places to the messages of one call.
class MailPlaces {
 public:
  explicit MailPlaces(const HostMail& mail) : left_(mail.pool_bytes()) {}
  std::int64_t next(Bytes bytes) {
    if (bytes <= mail_slot_room) return in_slot;
    const Bytes taken = round_up(bytes, Bytes{cache_line_bytes});  // messages in pools begin at cache lines
    if (taken > left_) return by_mpi;
    left_ -= taken;
    return left_;
  }

 private:
  Bytes left_;
};

/// The messages between one rank and other ranks of its host. It serves all calls with the same messages.
class NearCall {
 public:
  /// Does not communicate. Takes the messages that shared memory carries. Messages between two ranks are
  /// matched in order.
  NearCall(const HostMail& mail, const Communicator& comm, int tag, std::span<const Outgoing> sends,
           std::span<const Incoming> receives);

  /// Whether MPI may have to carry some of its messages.
  bool may_need_mpi() const { return sends_.size() + receives_.size() > 0; }
  void start();
  /// Makes progress. Returns whether all messages have arrived and left. Throws Error `mismatch` if sizes
  /// differ.
  bool advance(Number call);
  /// Throws Error `mismatch` if this rank expects a long message from a rank that has written a short one.
  /// Call it from time to time.
  void look_for_shorter(Number call) const;
  /// Cancels the receives after an error.
  void cancel() noexcept { receives_.cancel_receives(); }
  void await_sends(Rank gone) noexcept { sends_.await_sends(gone); }

 private:
  /// All messages from one rank to another.
  struct Letter {
    std::size_t index = 0;  // of the partner among the ranks of the host
    Rank partner = 0;
    Bytes bytes = 0;
    std::int64_t place = in_slot;  // of a letter to be sent
    std::vector<SharedCopy> copies = {};
    std::size_t first_request = no_index;  // if MPI carries the letter
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
  std::vector<Letter> longer_;         // to be received, but too long for shared memory
  std::vector<std::uint32_t> unread_;  // indices in incoming_; the first num_unread_ are still missing

  // State of the running call.
  std::size_t num_written_ = 0;
  std::size_t num_unread_ = 0;
  bool is_written_ = false;
};

}  // namespace nuice::mpi
