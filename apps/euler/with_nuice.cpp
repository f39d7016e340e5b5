// SPDX-License-Identifier: BSD-3-Clause
// Ghost values with nuice: the points that the rank works with go in, planned updates come out.
#include <nuice/mpi/halo.hpp>

#include "euler/halos.hpp"

namespace nuice::euler {
namespace {

constexpr Bytes flow_bytes = 4 * sizeof(double);

class NuiceUpdate : public GhostUpdate {
 public:
  explicit NuiceUpdate(mpi::HaloExchange gather) : gather_(std::move(gather)) {}
  void start() override { gather_.start(); }
  void wait() override { gather_.wait(); }

 private:
  mpi::HaloExchange gather_;
};

class NuiceHalos : public Halos {
 public:
  NuiceHalos(const std::vector<Rank>& owners, std::span<const std::int64_t> needed,
             const mpi::PlanOptions& options)
      : halo_(MPI_COMM_WORLD, mpi::Ownership::array(owners), needed, options, flow_bytes) {}

  std::size_t num_owned() const override { return static_cast<std::size_t>(halo_.num_owned()); }
  std::size_t num_entries() const override { return halo_.num_entries(); }
  std::int32_t local_index(std::int32_t point) const override { return halo_.local_index(point); }
  std::unique_ptr<GhostUpdate> bind(std::span<double> values, int components) override {
    return std::make_unique<NuiceUpdate>(halo_.bind_gather(values, components));
  }
  apps::HaloFacts facts() {
    std::vector<double> flow(halo_.num_entries() * 4);
    return {halo_.matrix(flow_bytes), halo_.bind_gather(flow, 4).info()};
  }

 private:
  mpi::Halo halo_;
};

}  // namespace

std::unique_ptr<Halos> make_with_nuice(const std::vector<Rank>& owners, std::span<const std::int64_t> needed,
                                       const mpi::PlanOptions& options, apps::HaloFacts& facts) {
  auto halos = std::make_unique<NuiceHalos>(owners, needed, options);
  facts = halos->facts();
  return halos;
}

}  // namespace nuice::euler
