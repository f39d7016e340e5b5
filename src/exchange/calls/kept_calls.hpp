// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoallv and its relatives without init: what a call needs is kept with the communicator, and found again by its arguments.
//
// A rank cannot know whether others have changed their counts: only the two ends of a message see that its bytes changed. So nothing may
// depend on what a third rank passes. Short messages inside a host go through memory that its ranks share (host_mail.hpp), all others
// as without a plan (direct_run.hpp). Both need nothing but that the two ends of a message call with the same bytes, as MPI does. Each
// rank finds what it has kept, or makes it again, by itself and without communication; the other end cannot tell.
//
// Errors: the first call on a communicator compares the bytes of all pairs, and fails on all ranks or none. Later, a rank that finds
// something wrong tells all others, which look for that while they wait; they fail in this call or, if they were done with it, in
// the next one. Which calls others have completed is not known then, so all calls on the communicator fail from there on.
//
// A program that catches the error may free its buffers, and MPI reads long messages where they lie when their receiver comes.
// So a rank that has failed waits for its sends to those that are in the call and have not heard of it, and a rank that comes
// later listens before it receives.
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
  bool is_in_place;  ///< Then there is no `send`.
  const SendBlocks& send;
  const ReceiveBlocks& receive;
  Outcome fault = {};  ///< What is wrong already.
};

/// Collective. On what is kept with comm.
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
  /// One side of a call, as it is compared.
  struct SideKey {
    const void* data = nullptr;
    device::Location place = {};  // memory that is freed may come again elsewhere
    Bytes element_bytes = 0;
    Bytes room = 0;
    bool each_has_a_type = false;
    std::vector<std::byte> counts;  // as they lie in the program's memory
    std::vector<std::byte> displs;
    std::vector<std::int64_t> types;
  };
  struct Kept {
    bool is_neighbor;
    bool is_in_place;
    SideKey send;
    SideKey receive;
    std::vector<SharedCopy> copies;  // of what is sent in place, to the memory
    std::unique_ptr<std::byte[]> memory;
    std::unique_ptr<StagedMessages> staged;  // from and to a device
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
  std::vector<std::unique_ptr<Kept>> kept_;  // the last used first
  Number number_ = 0;                        // of calls
  double last_s_ = 0;                        // when the last one by MPI began
  Outcome failed_;
};

}  // namespace nuice::mpi
