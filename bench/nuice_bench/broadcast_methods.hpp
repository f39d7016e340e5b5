// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts: lib and reb (001 s.3.6), and MPI_Bcast. For a group, MPI_Bcast runs on a communicator of its
// members, the root first. Making this communicator counts as planning. Ranks outside the group do nothing,
// as in planned broadcasts.
#pragma once

#include <algorithm>
#include <climits>

#include "kit/errors.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/plan/broadcaster.hpp"
#include "nuice_bench/methods.hpp"

namespace nuice::bench {

/// Returns the root's message, or the buffer for it. Returns an empty span on a rank that takes no part.
inline std::span<std::byte> message_of(Payload& payload) {
  if (!payload.send.partners.empty()) return payload.send.message(0);
  if (!payload.receive.partners.empty()) return payload.receive.message(0);
  return {};
}

inline void require_countable(Bytes bytes) {
  if (bytes > INT_MAX) kit::fail(ErrorCode::limit, "{} bytes are more than MPI's int counts", bytes);
}

/// Carries out the steps of lib and reb. A rank receives the message, and then sends it to one rank after the
/// other, or (async) to all at once.
class PlannedBroadcast : public Method {
 public:
  PlannedBroadcast(const MethodSpec& spec, const BroadcastProblem& problem, Payload& payload)
      : message_(message_of(payload)) {
    require_countable(problem.bytes);
    const Pace pace = find_executor(spec.executor).pace;
    if (pace != Pace::phases && pace != Pace::at_once)
      kit::fail(ErrorCode::invalid_argument, "broadcasts are for the executors {} and async, not for {}",
                default_executor, spec.executor);
    const double begin_s = MPI_Wtime();
    const Rank num_ranks = mpi::world_size();
    std::vector<Rank> group;
    for (Rank rank = 0; rank < num_ranks; ++rank)
      if (is_member(problem, rank)) group.push_back(rank);
    const BroadcastSchedule schedule = make_broadcast(spec.scheduler, num_ranks, problem.root, group);
    if (const auto fault = check_broadcast(schedule, group)) kit::fail(ErrorCode::mismatch, "{}", *fault);
    table_ = slice(schedule, mpi::world_rank());
    if (pace == Pace::at_once) sends_.resize(table_.sends.size());
    planning.total_s = mpi::max_over_ranks(MPI_Wtime() - begin_s);
    num_phases = table_.num_steps;
  }

  void run() override {
    const int bytes = static_cast<int>(message_.size());
    if (table_.receive)
      MPI_Recv(message_.data(), bytes, MPI_BYTE, table_.receive->partner, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < table_.sends.size(); ++i) {
      const Rank to = table_.sends[i].partner;
      if (sends_.empty())
        MPI_Send(message_.data(), bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
      else
        MPI_Isend(message_.data(), bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &sends_[i]);
    }
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::span<std::byte> message_;
  BroadcastTable table_;
  std::vector<MPI_Request> sends_;  // empty: sends follow each other
};

class BcastMethod : public Method {
 public:
  BcastMethod(const BroadcastProblem& problem, Payload& payload) : message_(message_of(payload)) {
    require_countable(problem.bytes);
    if (!problem.group) {
      members_ = MPI_COMM_WORLD;
      root_ = problem.root;
      return;
    }
    const Rank rank = mpi::world_rank();
    const double begin_s = MPI_Wtime();
    MPI_Comm_split(MPI_COMM_WORLD, is_member(problem, rank) ? 0 : MPI_UNDEFINED,
                   rank == problem.root ? 0 : rank + 1, &members_);
    planning.total_s = mpi::max_over_ranks(MPI_Wtime() - begin_s);
  }
  BcastMethod(const BcastMethod&) = delete;
  BcastMethod& operator=(const BcastMethod&) = delete;
  ~BcastMethod() override {
    if (members_ != MPI_COMM_WORLD && members_ != MPI_COMM_NULL) MPI_Comm_free(&members_);
  }

  void run() override {
    if (members_ == MPI_COMM_NULL) return;
    MPI_Bcast(message_.data(), static_cast<int>(message_.size()), MPI_BYTE, root_, members_);
  }

 private:
  std::span<std::byte> message_;
  MPI_Comm members_ = MPI_COMM_NULL;
  int root_ = 0;
};

}  // namespace nuice::bench
