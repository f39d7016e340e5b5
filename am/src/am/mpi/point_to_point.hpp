// SPDX-License-Identifier: BSD-3-Clause
// Transport "mpi": MPI point to point.
//
// Receiving: a ring of persistent receives from any source. They match in the order in which they were
// started, so only the first is tested. An empty poll takes 18 ns; MPI_Testany over 64 receives takes 80 to
// 526 ns. The ring receives 25 to 45 % more messages per second than MPI_Iprobe. Sending: MPI_Isend from a
// slot. MPI_Send would wait for the receiver if MPI has no room (Open MPI 5 in shared memory: for the 64th
// message of 16 bytes to a computing rank), and no handlers would run during this wait. For small messages
// both take equally long, in a flood and in a round trip. A flood of 1 KiB takes 0.9 us per message with
// MPI_Send, 0.3 us with MPI_Isend. Credits: a rank may have `credits` messages in flight to another rank. The
// receiver returns credits in the header of its next message to the sender, or, when half of them are due, in
// a separate message. Bulk data: MPI_Isend and MPI_Irecv between the user's buffers, with a tag for each
// transfer.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "am/mpi/call.hpp"
#include "am/mpi/host.hpp"
#include "am/transport/lull.hpp"
#include "nuice/am/transport.hpp"
#include "nuice/mpi/am.hpp"

namespace nuice::am::mpi {

/// Buffers of messages that MPI may still read.
class SendSlots {
 public:
  struct Slot {
    MPI_Request request = MPI_REQUEST_NULL;
    std::byte* bytes = nullptr;
  };
  /// same_first: tries the slot of the last send first. With Open MPI, sends of some hundred bytes are
  /// complete when MPI_Isend returns, and that slot is in the cache. In a flood of 8 bytes a message takes 78
  /// ns, with in_turn 81 ns. Larger sends are not complete by then, so the test only costs time: with 1 KiB a
  /// message takes 240 ns with in_turn, and 280 ns with same_first.
  enum class Order { in_turn, same_first };
  SendSlots(std::size_t slots, std::size_t slot_bytes, Order order);
  ~SendSlots();
  SendSlots(const SendSlots&) = delete;
  SendSlots& operator=(const SendSlots&) = delete;
  /// Returns a free slot; null if MPI uses all of them.
  Slot* free();

 private:
  static bool is_free(Slot& slot);

  Order order_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<Slot> slots_;
  std::size_t last_ = 0;  // used last
};

class PointToPoint : public Transport {
 public:
  /// Collective.
  PointToPoint(MPI_Comm parent, const Options& options, const Host& host);
  ~PointToPoint() override;

  std::string name() const override { return "mpi"; }
  Rank rank() const override { return comm_.rank(); }
  Rank num_ranks() const override { return comm_.num_ranks(); }
  std::size_t max_message_bytes() const override { return max_message_bytes_; }
  bool try_send(Rank dst, Header header, std::span<const std::byte> a, std::span<const std::byte> b) override;
  int poll(Inbox& inbox, int limit) override;
  bool oversubscribed() const override { return oversubscribed_; }
  bool allows_threads() const override { return mpi::allows_threads(); }

  std::size_t bulk_min_bytes() const override;
  std::uint64_t start_bulk_send(Rank dst, std::span<const std::byte> data) override;
  bool bulk_sent(std::uint64_t key) override;
  void start_bulk_receive(Rank src, std::uint64_t key, std::span<std::byte> data,
                          std::uint64_t cookie) override;
  bool bulk_pending() const override { return !bulk_receives_.empty(); }

  void start_reduce(ReduceOp op, std::span<const std::int64_t> values) override {
    reduction_.start(comm_.get(), op, values);
  }
  bool test_reduce(std::span<std::int64_t> result) override { return reduction_.test(result); }
  std::vector<Rank> dead_ranks() override { return deaths_.ranks(); }
  bool is_orphan() const override { return deaths_.is_orphan(); }

 private:
  /// A separate message that returns credits.
  struct CreditSend {
    MPI_Request request = MPI_REQUEST_NULL;
    Header header;
  };
  struct BulkReceive {
    std::uint64_t cookie;
    std::vector<MPI_Request> requests;
  };

  void give_back_credits(Rank dst);
  void finish_receive(Rank src, const Header& header);
  void poll_bulk(Inbox& inbox);
  std::byte* buffer(std::size_t i) { return memory_.get() + i * stride_; }

  Communicator comm_;
  std::size_t max_message_bytes_;
  bool oversubscribed_;
  std::size_t stride_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<MPI_Request> receives_;
  std::size_t head_ = 0;
  Lull lull_{128};
  int credits_max_;
  std::vector<int> credits_;  // messages that may still be sent, by destination
  std::vector<int> owed_;     // credits to give back, by source
  SendSlots small_slots_;
  SendSlots slots_;
  std::deque<CreditSend> credit_sends_;  // at most two per rank, which return all its credits
  int max_tag_ = 0;
  std::uint64_t next_key_ = 0;
  std::map<std::uint64_t, std::vector<MPI_Request>> bulk_sends_;
  std::vector<BulkReceive> bulk_receives_;
  Reduction reduction_;
  Deaths deaths_;
};

}  // namespace nuice::am::mpi
