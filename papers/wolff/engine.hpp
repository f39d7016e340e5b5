// SPDX-License-Identifier: BSD-3-Clause
// A scheme with a lattice behind an interface: it flips clusters on the ranks of a communicator.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "irregular/scheme.hpp"
#include "irregular/with_scheme.hpp"
#include "nuice/core/random.hpp"
#include "nuice/mpi/agree.hpp"
#include "wolff/cluster.hpp"
#include "wolff/lattice.hpp"

namespace nuice::wolff {

/// A method of growing clusters. word names it: SCHEME or SCHEME:SYNC.
struct Way {
  std::string word;
  irregular::SchemeOptions scheme;
  std::int64_t delta = 1;
  std::int64_t grain = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  /// Collective. Flips cluster number `cluster`. Returns how many sites this rank flipped.
  virtual std::int64_t flip(std::uint64_t cluster) = 0;
  virtual irregular::Traffic traffic() const = 0;
  virtual std::string transport() const = 0;
  virtual Lattice& lattice() = 0;
  /// Returns the neighbour ranks by slot.
  virtual const std::vector<Rank>& neighbours() const = 0;
};

/// Observables of the lattice. Collective over the engine's communicator. They are sums over all ranks, for
/// which ranks exchange the columns that border on other ranks' columns.
struct Observed {
  std::int64_t bonds = 0;  ///< Energy = -bonds.
  std::int64_t magnetisation = 0;
};

template <class Scheme>
class EngineOf final : public Engine {
 public:
  EngineOf(Scheme& scheme, Lattice& lattice, Grower& grower, const std::vector<Rank>& neighbours,
           std::int64_t delta)
      : scheme_(scheme), lattice_(lattice), grower_(grower), neighbours_(neighbours), delta_(delta) {}

  std::int64_t flip(std::uint64_t cluster) override {
    grower_.begin(cluster);
    irregular::run(scheme_, grower_, delta_);
    return grower_.flipped();
  }
  irregular::Traffic traffic() const override { return scheme_.traffic(); }
  std::string transport() const override { return scheme_.transport(); }
  Lattice& lattice() override { return lattice_; }
  const std::vector<Rank>& neighbours() const override { return neighbours_; }

 private:
  Scheme& scheme_;
  Lattice& lattice_;
  Grower& grower_;
  const std::vector<Rank>& neighbours_;
  std::int64_t delta_;
};

/// Returns the maximum number of items per neighbour for AMP-C-NO. A column's sites are sent at most once per
/// cluster to each side.
inline std::size_t most_items(const irregular::Stripes& stripes) {
  std::int64_t most_columns = 0;
  for (Rank rank = 0; rank < stripes.num_ranks(); ++rank)
    most_columns = std::max(most_columns, 2 * static_cast<std::int64_t>(stripes.of(rank).size()));
  return static_cast<std::size_t>(std::max<std::int64_t>(1, most_columns * stripes.columns()));
}

inline std::uint64_t mixed(std::int64_t site, Spin spin) {
  return mix64(static_cast<std::uint64_t>(site) * 4 + spin);
}

/// Collective. Makes an engine; all spins are 1 at first. Throws the errors of with_scheme() and Lattice.
inline void with_engine(MPI_Comm comm, const Way& way, const irregular::Stripes& stripes, Bonds bonds,
                        const std::function<void(Engine&)>& use) {
  const Rank rank = mpi::rank_in(comm);
  const std::vector<Rank> neighbours = stripes.neighbours(rank, true);
  Lattice lattice(stripes, rank, neighbours);
  Grower grower(lattice, bonds, way.grain, irregular::find_scheme(way.scheme.name).levels_late);
  irregular::SchemeOptions options = way.scheme;
  options.max_items = most_items(stripes);
  irregular::with_scheme(comm, options, neighbours, grower, [&](auto& scheme) {
    EngineOf engine(scheme, lattice, grower, neighbours, way.delta);
    use(engine);
  });
}

inline Observed observe(MPI_Comm comm, Engine& engine, const irregular::Stripes& stripes) {
  const Lattice& lattice = engine.lattice();
  const int rank = mpi::rank_in(comm);
  const std::int64_t n = lattice.size();
  std::vector<MPI_Request> requests;
  std::vector<std::pair<std::int64_t, std::vector<Spin>>>
      beyond;  // columns by the number of the previous column
  const std::vector<irregular::Stripe> mine = stripes.of(rank);
  beyond.reserve(mine.size());
  const auto bytes = static_cast<int>(n);
  std::int64_t sums[2] = {lattice.bonds(), lattice.magnetisation()};
  for (const irregular::Stripe& stripe : mine) {
    const std::int64_t after = stripe.end % n;
    if (stripes.owner(after) != rank) {
      auto& [column, cells] =
          beyond.emplace_back(stripe.end - 1, std::vector<Spin>(static_cast<std::size_t>(n)));
      MPI_Irecv(cells.data(), bytes, MPI_BYTE, stripes.owner(after), static_cast<int>(after), comm,
                &requests.emplace_back());
    }
    const Rank before = stripes.owner((stripe.begin + n - 1) % n);
    if (before != rank)
      MPI_Isend(lattice.cells_of(stripe.begin).data(), bytes, MPI_BYTE, before,
                static_cast<int>(stripe.begin), comm, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (const auto& [column, cells] : beyond) sums[0] += lattice.bonds_with(column, cells);
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, comm);
  return {sums[0], sums[1]};
}

/// Collective. Returns the whole lattice on all ranks.
inline std::vector<Spin> gather(MPI_Comm comm, const Lattice& lattice) {
  std::vector<Spin> whole(static_cast<std::size_t>(lattice.size() * lattice.size()), 0);
  lattice.store(whole);
  for (std::int64_t column = 0; column < lattice.size();
       ++column)  // column by column, so that counts fit int
    MPI_Allreduce(MPI_IN_PLACE, whole.data() + column * lattice.size(), static_cast<int>(lattice.size()),
                  MPI_BYTE, MPI_BOR, comm);
  return whole;
}

/// Returns a hash of a whole lattice. The overload for distributed lattices is collective.
inline std::uint64_t fingerprint(std::span<const Spin> whole) {
  std::uint64_t sum = 0;
  for (std::size_t site = 0; site < whole.size(); ++site)
    sum += mixed(static_cast<std::int64_t>(site), whole[site]);
  return sum;
}

inline std::uint64_t fingerprint(MPI_Comm comm, const Lattice& lattice) {
  std::uint64_t sum = 0;
  for (const std::int64_t column : lattice.columns()) {
    std::int64_t site = column * lattice.size();
    for (const Spin cell : lattice.cells_of(column)) sum += mixed(site++, static_cast<Spin>(cell & 3));
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  return sum;
}

}  // namespace nuice::wolff
