// SPDX-License-Identifier: BSD-3-Clause
// What transport "ucx" needs from MPI: addresses and reductions.
#pragma once

#include <array>

#include "am/mpi/call.hpp"
#include "am/ucx/ucx.hpp"

namespace nuice::am::mpi {

class MpiRendezvous : public ucx::Rendezvous {
 public:
  /// Collective.
  MpiRendezvous(MPI_Comm parent, bool oversubscribed) : comm_(parent), oversubscribed_(oversubscribed) {}
  Rank rank() const override { return comm_.rank(); }
  Rank num_ranks() const override { return comm_.num_ranks(); }
  bool oversubscribed() const override { return oversubscribed_; }
  bool allows_threads() const override;
  std::vector<std::string> all_gather(const std::string& mine) override;
  bool all_agree(bool mine) override;
  void start_reduce(ReduceOp op, std::span<const std::int64_t> values) override;
  bool test_reduce(std::span<std::int64_t> result) override;

 private:
  Communicator comm_;
  bool oversubscribed_;
  MPI_Request reduction_ = MPI_REQUEST_NULL;
  std::array<std::int64_t, 8> reduce_in_{};
  std::array<std::int64_t, 8> reduce_out_{};
};

}  // namespace nuice::am::mpi
