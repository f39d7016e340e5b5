// SPDX-License-Identifier: BSD-3-Clause
// Transport "shm": rings in an MPI shared window between the ranks of a host. Bulk data is copied directly
// between their memories (direct_copy.hpp). Another transport is used to other hosts, for reductions, and for
// bulk data if the system forbids direct copies.
//
// Every rank owns one segment. It contains its doorbell, a control line for each rank of the host, the block
// that it offers, its counts (termination.hpp), and the rings.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <vector>

#include "am/mpi/call.hpp"
#include "am/mpi/host.hpp"
#include "am/transport/direct_copy.hpp"
#include "am/transport/ring.hpp"
#include "am/transport/termination.hpp"
#include "nuice/am/transport.hpp"
#include "nuice/mpi/am.hpp"

namespace nuice::am::mpi {

class SharedMemory : public Transport {
 public:
  /// Collective over the host's ranks.
  SharedMemory(std::unique_ptr<Host> host, const Options& options, std::unique_ptr<Transport> remote);
  ~SharedMemory() override;

  std::string name() const override;
  Rank rank() const override { return remote_->rank(); }
  Rank num_ranks() const override { return remote_->num_ranks(); }
  std::size_t max_message_bytes() const override { return max_message_bytes_; }
  bool try_send(Rank dst, Header header, std::span<const std::byte> a, std::span<const std::byte> b) override;
  int poll(Inbox& inbox, int limit) override;
  RingProducer* ring_to(Rank dst) override { return to_rank_[static_cast<std::size_t>(dst)]; }
  bool oversubscribed() const override { return host_->oversubscribed; }
  bool sleep(double seconds, const std::function<bool()>& is_ready) override;
  bool allows_threads() const override { return remote_->allows_threads(); }

  std::size_t bulk_min_bytes() const override { return remote_->bulk_min_bytes(); }
  std::uint64_t start_bulk_send(Rank dst, std::span<const std::byte> data) override;
  bool bulk_sent(std::uint64_t key) override;
  void start_bulk_receive(Rank src, std::uint64_t key, std::span<std::byte> data,
                          std::uint64_t cookie) override;
  bool bulk_pending() const override { return !blocks_.empty() || remote_->bulk_pending(); }

  void start_reduce(ReduceOp op, std::span<const std::int64_t> values) override {
    remote_->start_reduce(op, values);
  }
  bool test_reduce(std::span<std::int64_t> result) override { return remote_->test_reduce(result); }
  TerminationDetector* termination_detector() override { return detector_.get(); }
  std::vector<Rank> dead_ranks() override { return remote_->dead_ranks(); }
  bool is_orphan() const override { return remote_->is_orphan(); }

  bool arm_doorbell(int signal) override;
  void rearm_doorbell() override;
  void disarm_doorbell() override;
  int poll_from_signal(Inbox& inbox) override;

 private:
  struct Source {
    Rank rank;
    RingConsumer ring;
  };
  /// A block in flight to this rank.
  struct Block {
    Handover* handover;
    int process;  // the sender's process
    std::uint64_t cookie;
  };
  int poll_rings(Inbox& inbox, int limit);
  int poll_blocks(Inbox& inbox);
  void find_processes();
  bool can_read_all(const std::vector<std::uint64_t>& words) const;
  int common_ancestor() const;
  std::byte* segment(int host_rank) const;
  std::unique_ptr<TerminationDetector> make_detector(std::size_t counts_at) const;

  std::unique_ptr<Host> host_;
  std::unique_ptr<Transport> remote_;
  std::size_t ring_bytes_;
  std::size_t max_message_bytes_;
  std::unique_ptr<TerminationDetector> detector_;
  MPI_Win window_ = MPI_WIN_NULL;
  Doorbell* bell_ = nullptr;
  int signal_ = 0;
  bool has_remote_ranks_ = false;
  std::vector<RingProducer> producers_;
  std::vector<RingProducer*> to_rank_;
  std::vector<Source> sources_;
  std::vector<Handover*> handovers_;  // by rank in the parent; null if blocks cannot be copied from that rank
  std::vector<int> processes_;        // by rank in the parent, for this host
  std::optional<Leave> leave_;        // lets the other ranks copy, if the system requires permission
  int block_receiver_ = 0;            // the process to which this rank offers its block
  std::vector<Block> blocks_;
};

}  // namespace nuice::am::mpi
