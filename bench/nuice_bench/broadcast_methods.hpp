// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts: the planned one, and MPI_Bcast. For a group MPI_Bcast runs on a communicator of its members,
// the root first; making that counts as its planning, and ranks outside do nothing, as in the planned one.
#pragma once

#include <algorithm>
#include <climits>

#include "kit/errors.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/mpi/broadcast.hpp"
#include "nuice_bench/methods.hpp"

namespace nuice::bench {

/// The root's message, or the place for it; empty for a rank that takes no part.
inline std::span<std::byte> message_of(Payload& payload) {
  if (!payload.send.partners.empty()) return payload.send.message(0);
  if (!payload.receive.partners.empty()) return payload.receive.message(0);
  return {};
}

class PlannedBroadcast : public Method {
 public:
  PlannedBroadcast(const MethodSpec& spec, const BroadcastProblem& problem, Payload& payload)
      : plan_(MPI_COMM_WORLD, {.root = problem.root,
                               .bytes = problem.bytes,
                               .group = problem.group,
                               .broadcaster = spec.scheduler,
                               .executor = spec.executor}) {
    const auto message = message_of(payload);
    const double before_bind_s = MPI_Wtime();
    exchange_.emplace(plan_.bind(message.data(), std::ssize(message)));
    const double bind_s = mpi::max_over_ranks(MPI_Wtime() - before_bind_s);
    planning.total_s = plan_.info().plan_s + bind_s;
    planning.bind_s = bind_s;
    num_phases = plan_.info().num_steps;
  }

  void run() override {
    exchange_->start();
    exchange_->wait();
  }

 private:
  mpi::BroadcastPlan plan_;
  std::optional<mpi::Exchange> exchange_;
};

class BcastMethod : public Method {
 public:
  BcastMethod(const BroadcastProblem& problem, Payload& payload) : message_(message_of(payload)) {
    if (problem.bytes > INT_MAX)
      kit::fail(ErrorCode::limit, "{} bytes are more than MPI's int counts", problem.bytes);
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
