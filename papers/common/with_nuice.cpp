// SPDX-License-Identifier: BSD-3-Clause
// Ghost values with NUICE, which turns the list of entries that the rank uses into planned updates.
#include <nuice/mpi/halo.hpp>

#include "common/halos.hpp"

namespace nuice::apps {
namespace {

Bytes bytes_of(int components) { return components * Bytes{sizeof(double)}; }

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
  NuiceHalos(const Entries& entries, const mpi::PlanOptions& options)
      : halo_(MPI_COMM_WORLD, mpi::Ownership::function(entries.owned, entries.owner), entries.needed, options,
              bytes_of(entries.components)) {}

  std::size_t num_owned() const override { return static_cast<std::size_t>(halo_.num_owned()); }
  std::size_t num_entries() const override { return halo_.num_entries(); }
  std::int32_t local_index(std::int64_t entry) const override { return halo_.local_index(entry); }
  std::unique_ptr<GhostUpdate> bind(std::span<double> values, int components) override {
    return std::make_unique<NuiceUpdate>(halo_.bind_gather(values, components));
  }
  std::optional<HaloFacts> facts(int components) override {
    std::vector<double> values(halo_.num_entries() * static_cast<std::size_t>(components));
    return HaloFacts{halo_.matrix(bytes_of(components)), halo_.bind_gather(values, components).info()};
  }

 private:
  mpi::Halo halo_;
};

}  // namespace

std::unique_ptr<Halos> make_with_nuice(const Entries& entries, const mpi::PlanOptions& options) {
  return std::make_unique<NuiceHalos>(entries, options);
}

}  // namespace nuice::apps
