// SPDX-License-Identifier: BSD-3-Clause
// The complete exchange with NUICE: one plan, whose phases run backwards for the inverse transform.
#include <nuice/mpi.hpp>

#include <nuice/mpi/agree.hpp>
#include "fft2d/exchange.hpp"

namespace nuice::fft2d {
namespace {

class NuiceExchange : public CompleteExchange {
 public:
  NuiceExchange(Sides& sides, const mpi::PlanOptions& options)
      : plan_(MPI_COMM_WORLD, partners(sides.row_side), options),
        forward_(plan_.bind(buffers<SendBuffer>(sides.row_side, plan_.destinations()),
                            buffers<ReceiveBuffer>(sides.column_side, plan_.sources()))),
        backward_(plan_.bind(buffers<SendBuffer>(sides.column_side, plan_.sources()),
                             buffers<ReceiveBuffer>(sides.row_side, plan_.destinations()),
                             mpi::Direction::backwards)) {}

  void forward() override {
    forward_.start();
    forward_.wait();
  }
  void backward() override {
    backward_.start();
    backward_.wait();
  }
  PhaseId num_phases() const { return plan_.info().num_phases; }

 private:
  static std::vector<Partner> partners(const Blocks& blocks) {
    std::vector<Partner> all;
    for (Rank rank = 0; rank < mpi::world_size(); ++rank)
      if (rank != mpi::world_rank()) all.push_back({rank, bytes(blocks, rank)});
    return all;
  }
  static Bytes bytes(const Blocks& blocks, Rank rank) {
    return static_cast<Bytes>(blocks.count(rank) * sizeof(Complex));
  }
  template <typename Buffer>
  static std::vector<Buffer> buffers(Blocks& blocks, std::span<const Partner> partners) {
    std::vector<Buffer> all;
    for (const auto& [rank, size] : partners) all.push_back({blocks.block(rank).data(), size});
    return all;
  }

  mpi::Plan plan_;
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
