// SPDX-License-Identifier: BSD-3-Clause
// Ghost values with MPI only: the program finds its ghosts, asks their owners, packs, and posts the messages
// in the order of ranks. Messages are sent by Irecv and Isend, or by MPI_Neighbor_alltoallv.
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "common/halos.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::apps {
namespace {

/// Does in plain MPI what with_nuice.cpp leaves to nuice::mpi::Halo. Counts and begins are in entries.
class PlainHalos : public Halos {
 public:
  explicit PlainHalos(const Entries& entries) : num_owned_(entries.owned.size()) {
    const auto size = static_cast<std::size_t>(mpi::world_size());
    for (const std::int64_t entry : entries.owned)
      local_.emplace(entry, static_cast<std::int32_t>(local_.size()));
    std::vector<std::int64_t> ghosts;
    for (const std::int64_t entry : entries.needed)
      if (!local_.contains(entry)) ghosts.push_back(entry);
    std::ranges::sort(ghosts, {}, [&](std::int64_t g) { return std::pair(entries.owner(g), g); });
    const auto repeats = std::ranges::unique(ghosts);
    ghosts.erase(repeats.begin(), repeats.end());
    for (const std::int64_t ghost : ghosts) local_.emplace(ghost, static_cast<std::int32_t>(local_.size()));

    // Counts ghosts by owner. Sends the owners first these counts and then the indices.
    std::vector<int> to_ask(size, 0), asked(size, 0), ask_begins(size, 0), asked_begins(size, 0);
    for (const std::int64_t ghost : ghosts) ++to_ask[static_cast<std::size_t>(entries.owner(ghost))];
    MPI_Alltoall(to_ask.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::exclusive_scan(to_ask.begin(), to_ask.end(), ask_begins.begin(), 0);
    std::exclusive_scan(asked.begin(), asked.end(), asked_begins.begin(), 0);
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(asked_begins.back() + asked.back()));
    MPI_Alltoallv(ghosts.data(), to_ask.data(), ask_begins.data(), MPI_INT64_T, wanted.data(), asked.data(),
                  asked_begins.data(), MPI_INT64_T, MPI_COMM_WORLD);
    for (const std::int64_t entry : wanted) sent.push_back(static_cast<std::size_t>(local_.at(entry)));
    for (std::size_t r = 0; r < size; ++r) {
      if (to_ask[r] > 0) from.push_back({static_cast<int>(r), to_ask[r], ask_begins[r]});
      if (asked[r] > 0) to.push_back({static_cast<int>(r), asked[r], asked_begins[r]});
    }
  }

  std::size_t num_owned() const override { return num_owned_; }
  std::size_t num_entries() const override { return local_.size(); }
  std::int32_t local_index(std::int64_t entry) const override { return local_.at(entry); }

  struct Partner {
    int rank, count, begin;
  };
  std::vector<Partner> from, to;
  std::vector<std::size_t> sent;  // owned entries, by receiver

 private:
  std::size_t num_owned_;
  std::unordered_map<std::int64_t, std::int32_t> local_;
};

class PlainUpdate : public GhostUpdate {
 public:
  PlainUpdate(const PlainHalos& halos, std::span<double> values, int components)
      : halos_(halos),
        values_(values),
        ghosts_(values.data() + halos.num_owned() * static_cast<std::size_t>(components)),
        components_(components),
        packed_(halos.sent.size() * static_cast<std::size_t>(components)) {}

 protected:
  void pack() {
    if (components_ == 1) {
      std::ranges::transform(halos_.sent, packed_.begin(), [&](std::size_t entry) { return values_[entry]; });
      return;
    }
    const auto width = static_cast<std::size_t>(components_);
    for (std::size_t i = 0; i < halos_.sent.size(); ++i)
      std::copy_n(values_.data() + halos_.sent[i] * width, width, packed_.data() + i * width);
  }
  const PlainHalos& halos_;
  std::span<double> values_;
  double* ghosts_;
  int components_;
  std::vector<double> packed_;
};

class IsendUpdate : public PlainUpdate {
 public:
  IsendUpdate(const PlainHalos& halos, std::span<double> values, int components)
      : PlainUpdate(halos, values, components),
        requests_(halos.from.size() + halos.to.size(), MPI_REQUEST_NULL) {}

  void start() override {
    std::size_t next = 0;
    for (const auto& [rank, count, begin] : halos_.from)
      MPI_Irecv(ghosts_ + std::ptrdiff_t{begin} * components_, count * components_, MPI_DOUBLE, rank, 0,
                MPI_COMM_WORLD, &requests_[next++]);
    pack();
    for (const auto& [rank, count, begin] : halos_.to)
      MPI_Isend(packed_.data() + std::ptrdiff_t{begin} * components_, count * components_, MPI_DOUBLE, rank,
                0, MPI_COMM_WORLD, &requests_[next++]);
  }
  void wait() override {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<MPI_Request> requests_;
};

class NeighborUpdate : public PlainUpdate {
 public:
  NeighborUpdate(const PlainHalos& halos, std::span<double> values, int components)
      : PlainUpdate(halos, values, components), from_(halos.from, components), to_(halos.to, components) {
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from_.ranks.size()), from_.ranks.data(),
                                   MPI_UNWEIGHTED, static_cast<int>(to_.ranks.size()), to_.ranks.data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_);
  }
  NeighborUpdate(const NeighborUpdate&) = delete;
  NeighborUpdate& operator=(const NeighborUpdate&) = delete;
  ~NeighborUpdate() override { MPI_Comm_free(&graph_); }

  void start() override {
    pack();
    MPI_Neighbor_alltoallv(packed_.data(), to_.counts.data(), to_.begins.data(), MPI_DOUBLE, ghosts_,
                           from_.counts.data(), from_.begins.data(), MPI_DOUBLE, graph_);
  }
  void wait() override {}

 private:
  struct Side {
    Side(const std::vector<PlainHalos::Partner>& partners, int components) {
      for (const auto& [rank, count, begin] : partners) {
        ranks.push_back(rank);
        counts.push_back(count * components);
        begins.push_back(begin * components);
      }
    }
    std::vector<int> ranks, counts, begins;
  };
  Side from_;
  Side to_;
  MPI_Comm graph_ = MPI_COMM_NULL;
};

template <typename Update>
class HalosWith : public PlainHalos {
 public:
  using PlainHalos::PlainHalos;
  std::unique_ptr<GhostUpdate> bind(std::span<double> values, int components) override {
    return std::make_unique<Update>(*this, values, components);
  }
};

}  // namespace

std::unique_ptr<Halos> make_with_isend(const Entries& entries, const mpi::PlanOptions&) {
  return std::make_unique<HalosWith<IsendUpdate>>(entries);
}
std::unique_ptr<Halos> make_with_neighbor(const Entries& entries, const mpi::PlanOptions&) {
  return std::make_unique<HalosWith<NeighborUpdate>>(entries);
}

}  // namespace nuice::apps
