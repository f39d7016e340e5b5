// SPDX-License-Identifier: BSD-3-Clause
// The complete exchange with nuice: one plan for each direction, as the blocks of a rectangle's transpose have other
// sizes on the way back.
#include <nuice/mpi.hpp>

#include "common/agree.hpp"
#include "fft2d/exchange.hpp"

namespace nuice::fft2d {
namespace {

class NuiceExchange : public CompleteExchange {
 public:
  NuiceExchange(Sides& sides, const mpi::PlanOptions& options)
      : forward_plan_(MPI_COMM_WORLD, partners(sides.row_side), options),
        backward_plan_(MPI_COMM_WORLD, partners(sides.column_side), options),
        forward_(bind(forward_plan_, sides.row_side, sides.column_side)),
        backward_(bind(backward_plan_, sides.column_side, sides.row_side)) {}

  void forward() override {
    forward_.start();
    forward_.wait();
  }
  void backward() override {
    backward_.start();
    backward_.wait();
  }
  PhaseId num_phases() const { return forward_plan_.info().num_phases; }

 private:
  static std::vector<Partner> partners(const Blocks& blocks) {
    std::vector<Partner> all;
    for (Rank rank = 0; rank < apps::world_size(); ++rank)
      if (rank != apps::world_rank()) all.push_back({rank, bytes(blocks, rank)});
    return all;
  }
  static Bytes bytes(const Blocks& blocks, Rank rank) {
    return static_cast<Bytes>(blocks.count(rank) * sizeof(Complex));
  }
  static mpi::Exchange bind(mpi::Plan& plan, Blocks& from, Blocks& to) {
    std::vector<SendBuffer> send;
    std::vector<ReceiveBuffer> receive;
    for (const auto& [rank, size] : plan.destinations()) send.push_back({from.block(rank).data(), size});
    for (const auto& [rank, size] : plan.sources()) receive.push_back({to.block(rank).data(), size});
    return plan.bind(send, receive);
  }

  mpi::Plan forward_plan_;
  mpi::Plan backward_plan_;
  mpi::Exchange forward_;
  mpi::Exchange backward_;
};

}  // namespace

std::unique_ptr<CompleteExchange> make_with_nuice(Sides& sides, const mpi::PlanOptions& options,
                                                  PhaseId& num_phases) {
  auto exchange = std::make_unique<NuiceExchange>(sides, options);
  num_phases = exchange->num_phases();
  return exchange;
}

}  // namespace nuice::fft2d
