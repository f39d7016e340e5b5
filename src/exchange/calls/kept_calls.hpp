// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoallv and its relatives without init. What a call needs is kept with the communicator, and found
// again by the call's arguments.
//
// A rank cannot know whether other ranks have changed their counts. Only the two ends of a message see that
// its size has changed, so nothing may depend on the arguments of a third rank. Short messages inside a host
// go through shared memory (host_mail.hpp). All others are exchanged without a plan (direct_run.hpp). Both
// ways only require, as MPI does, that the two ends of a message call with the same size. Each rank finds
// what it has kept, or makes it again, without communication. Other ranks cannot tell the difference.
//
// Errors: the first call on a communicator compares the sizes of all messages, and fails on all ranks or on
// none. Later, a rank that finds an error sends the error to all other ranks, which check for errors while
// they wait. They fail in this call or, if they have completed it, in the next call. No rank knows which
// calls other ranks have completed, so all later calls on the communicator fail, too.
//
// A program that catches the error may free its buffers, but MPI reads a long message from the send buffer
// only when its receiver has begun the call. So a rank that has failed waits for its sends to ranks that are
// in the call and do not know of the error. A rank that begins the call late checks for errors before it
// receives.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exchange/calls/host_mail.hpp"
#include "exchange/calls/staged_messages.hpp"
#include "exchange/exec/direct_run.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "mpi/communicator.hpp"
#include "mpi/discover/neighbours.hpp"
#include "mpi/faults.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/outcome.hpp"
#include "nuice/mpi/alltoallv.hpp"

namespace nuice::mpi {

/// The arguments of one call.
struct CallArguments {
  bool is_neighbor;
  bool is_in_place;  ///< If true, `send` is not used.
  const SendBlocks& send;
  const ReceiveBlocks& receive;
  Outcome fault = {};  ///< An error that was found before the call.
};

/// Collective. Carries out a call. Uses what earlier calls on comm have kept.
void run_kept(MPI_Comm comm, const CallArguments& call);

class KeptCalls {
 public:
  /// Collective.
  explicit KeptCalls(MPI_Comm parent);
  KeptCalls(const KeptCalls&) = delete;
  KeptCalls& operator=(const KeptCalls&) = delete;
  ~KeptCalls();

  void run(MPI_Comm parent, const CallArguments& call);

 private:
  /// The arguments of one side of a call, for comparison with later calls.
  struct SideKey {
    const void* data = nullptr;
    device::Location place = {};  // memory on another device may get the address of freed memory
    Bytes element_bytes = 0;
    Bytes room = 0;
    bool each_has_a_type = false;
    std::vector<std::byte> counts;  // their bytes in the program's memory
    std::vector<std::byte> displs;
    std::vector<std::int64_t> types;
  };
  struct Kept {
    bool is_neighbor;
    bool is_in_place;
    SideKey send;
    SideKey receive;
    std::vector<SharedCopy> copies;  // in-place calls: from the buffer to `memory`
    std::unique_ptr<std::byte[]> memory;
    std::unique_ptr<StagedMessages> staged;  // if buffers lie on a device
    SelfCopy self;
    NearCall near;
    DirectRun direct;
  };
  struct Messages {
    std::vector<Outgoing> sends;
    std::vector<Incoming> receives;
  };

  template <typename Data>
  static SideKey key_of(const Blocks<Data>& blocks, std::size_t count);
  template <typename Data>
  static bool is_same(const SideKey& key, const Blocks<Data>& blocks, std::size_t count);
  const Neighbours& partners_of(MPI_Comm parent, const CallArguments& call);
  Messages messages_of(const Neighbours& partners, const CallArguments& call) const;
  void compare_sizes(const Messages& messages) const;
  void meet();
  void agree_on_first(const Neighbours& partners, const CallArguments& call);
  Kept* find(const Neighbours& partners, const CallArguments& call);
  Kept& add(const Neighbours& partners, const CallArguments& call);
  void carry_out(Kept& kept);
  void listen_if_late();

  std::shared_ptr<const Communicator> comm_;
  Faults faults_;
  HostMail mail_;
  std::shared_ptr<bool> is_broken_ = std::make_shared<bool>(false);
  Neighbours all_;
  std::optional<Neighbours> neighbours_;
  bool is_compared_[2] = {false, false};     // by is_neighbor
  std::vector<std::unique_ptr<Kept>> kept_;  // the most recently used first
  Number number_ = 0;                        // of the last call
  double last_s_ = 0;                        // when the last call that used MPI began
  Outcome failed_;
};

}  // namespace nuice::mpi
