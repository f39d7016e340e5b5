// SPDX-License-Identifier: BSD-3-Clause
// The transport of the schemes with active messages. Normally nuice/mpi/am.hpp connects it; under SMPI it is
// a simple transport over MPI.
//
// SimGrid 3.32 keeps every receive that MPI_Test completes in a list, and searches the list at each step of
// simulated time. So transport mpi, which has persistent receives, makes a simulation slower with every
// message. Here a poll is MPI_Iprobe and MPI_Recv. SMPI buffers sent data, so there are no credits, and
// reductions block.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <vector>

#include "irregular/scheme.hpp"
#include "nuice/am/endpoint.hpp"
#include "nuice/mpi/am.hpp"

#ifdef NUICE_SMPI
#include <cstring>

#include "irregular/simulated.hpp"
#endif

namespace nuice::irregular {

#ifdef NUICE_SMPI

class SimulatedTransport final : public am::Transport {
 public:
  explicit SimulatedTransport(MPI_Comm parent) {
    MPI_Comm_dup(parent, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &num_ranks_);
  }
  ~SimulatedTransport() override { MPI_Comm_free(&comm_); }

  std::string name() const override { return "simulated"; }
  Rank rank() const override { return rank_; }
  Rank num_ranks() const override { return num_ranks_; }
  std::size_t max_message_bytes() const override { return max_bytes - sizeof(am::Header); }

  bool try_send(Rank dst, am::Header header, std::span<const std::byte> a,
                std::span<const std::byte> b) override {
    header.bytes = static_cast<std::uint32_t>(a.size() + b.size());
    out_.resize(sizeof header + header.bytes);
    std::memcpy(out_.data(), &header, sizeof header);
    if (!a.empty()) std::memcpy(out_.data() + sizeof header, a.data(), a.size());
    if (!b.empty()) std::memcpy(out_.data() + sizeof header + a.size(), b.data(), b.size());
    MPI_Send(out_.data(), static_cast<int>(out_.size()), MPI_BYTE, dst, 0, comm_);
    return true;
  }

  int poll(am::Inbox& inbox, int limit) override {
    for (int handled = 0; handled < limit; ++handled) {
      int is_there = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &is_there, &status);
      if (is_there == 0) return handled;
      MPI_Recv(in_.data(), max_bytes, MPI_BYTE, status.MPI_SOURCE, 0, comm_, MPI_STATUS_IGNORE);
      am::Header header;
      std::memcpy(&header, in_.data(), sizeof header);
      inbox.deliver(status.MPI_SOURCE, header, in_.data() + sizeof header);
    }
    return limit;
  }

  /// Returns true, so that an idle rank polls less often and there is less to simulate.
  bool oversubscribed() const override { return true; }
  void yield() override { simulated_seconds(between_looks_s); }

  void start_reduce(am::ReduceOp op, std::span<const std::int64_t> values) override {
    std::ranges::copy(values, values_.begin());
    num_values_ = static_cast<int>(values.size());
    op_ = op == am::ReduceOp::sum ? MPI_SUM : MPI_MAX;
  }
  bool test_reduce(std::span<std::int64_t> result) override {
    if (num_values_ == 0)
      MPI_Barrier(comm_);
    else
      MPI_Allreduce(MPI_IN_PLACE, values_.data(), num_values_, MPI_INT64_T, op_, comm_);
    std::ranges::copy_n(values_.begin(), num_values_, result.begin());
    return true;
  }

 private:
  static constexpr int max_bytes = 32768;  // SMPI buffers messages of this size
  static constexpr double between_looks_s = 3e-6;

  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank rank_ = 0;
  Rank num_ranks_ = 1;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_ = std::vector<std::byte>(max_bytes);
  std::array<std::int64_t, 8> values_{};
  int num_values_ = 0;
  MPI_Op op_ = MPI_SUM;
};

inline std::unique_ptr<am::Transport> connect(MPI_Comm comm, const std::string& /*transport*/) {
  return std::make_unique<SimulatedTransport>(comm);
}

#else

inline std::unique_ptr<am::Transport> connect(MPI_Comm comm, const std::string& transport) {
  return am::mpi::connect(comm, {.transport = transport});
}

#endif

/// Collective. Returns whether a run is over, after all ranks have voted.
inline bool is_over(am::Endpoint& endpoint, const Vote& mine) {
  const std::array<std::int64_t, 2> votes = {mine.idle ? 0 : 1, mine.stop ? 1 : 0};
  const std::vector<std::int64_t> all = endpoint.reduce(am::ReduceOp::max, votes);
  return all[0] == 0 || all[1] != 0;
}

}  // namespace nuice::irregular
