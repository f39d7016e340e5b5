// SPDX-License-Identifier: BSD-3-Clause
// What transport "ucx" needs from MPI: addresses, reductions and dead ranks.
#pragma once

#include "am/mpi/call.hpp"
#include "am/mpi/host.hpp"
#include "am/ucx/ucx.hpp"

namespace nuice::am::mpi {

class MpiRendezvous : public ucx::Rendezvous {
 public:
  /// Collective.
  MpiRendezvous(MPI_Comm parent, double watchdog_s, const Host& host)
      : comm_(parent, watchdog_s), oversubscribed_(host.oversubscribed), deaths_(comm_, host.neighbours) {}
  Rank rank() const override { return comm_.rank(); }
  Rank num_ranks() const override { return comm_.num_ranks(); }
  bool oversubscribed() const override { return oversubscribed_; }
  bool allows_threads() const override { return mpi::allows_threads(); }
  std::vector<std::string> all_gather(const std::string& mine) override;
  bool all_agree(bool mine) override;
  void start_reduce(ReduceOp op, std::span<const std::int64_t> values) override {
    reduction_.start(comm_.get(), op, values);
  }
  bool test_reduce(std::span<std::int64_t> result) override { return reduction_.test(result); }
  std::vector<Rank> dead_ranks() override { return deaths_.ranks(); }
  bool is_orphan() const override { return deaths_.is_orphan(); }

 private:
  Communicator comm_;
  bool oversubscribed_;
  Reduction reduction_;
  Deaths deaths_;
};

}  // namespace nuice::am::mpi
