// SPDX-License-Identifier: BSD-3-Clause
// A distributed array made at random, known in full to every rank: the oracle that halos are compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "mpi/mpi_support.hpp"
#include "nuice/core/random.hpp"
#include "nuice/mpi/halo.hpp"

namespace nuice::test {

using mpi::GlobalIndex;
using mpi::LocalIndex;

/// All ranks make the same entries from the same seed.
struct Entries {
  std::vector<std::vector<GlobalIndex>> owned;   // by rank and local index
  std::vector<std::vector<GlobalIndex>> needed;  // by rank; with repeats and owned ones
  std::map<GlobalIndex, Rank> owner;

  Rank num_ranks() const { return static_cast<Rank>(owned.size()); }

  /// Ghosts of a rank in the order that Halo promises: by owner, then by index.
  std::vector<GlobalIndex> ghosts(Rank rank) const {
    std::set<std::pair<Rank, GlobalIndex>> sorted;
    for (const GlobalIndex g : needed[static_cast<std::size_t>(rank)])
      if (owner.at(g) != rank) sorted.insert({owner.at(g), g});
    std::vector<GlobalIndex> all;
    for (const auto& [who, g] : sorted) all.push_back(g);
    return all;
  }
};

/// What all have: every rank needs a random share of the indices, some ranks none at all.
inline void add_needs(Entries& all, Random& random) {
  std::vector<GlobalIndex> indices;
  for (const auto& [index, rank] : all.owner) indices.push_back(index);
  for (Rank rank = 0; rank < all.num_ranks(); ++rank) {
    auto& mine = all.needed.emplace_back();
    const bool none = indices.empty() || random.below(5) == 0;
    const std::uint64_t wanted = none ? 0 : random.below(2 * indices.size());
    for (std::uint64_t i = 0; i < wanted; ++i) mine.push_back(indices[random.below(indices.size())]);
  }
}

/// Indices begin .. begin + n - 1 in ranges; some ranks own nothing.
inline Entries entries_in_ranges(std::uint64_t seed) {
  Random random(seed);
  Entries all;
  GlobalIndex next = static_cast<GlobalIndex>(random.below(20)) - 10;
  for (Rank rank = 0; rank < world_size(); ++rank) {
    auto& mine = all.owned.emplace_back();
    const std::uint64_t count = random.below(4) == 0 ? 0 : random.below(30);
    for (std::uint64_t i = 0; i < count; ++i) {
      all.owner[next] = rank;
      mine.push_back(next++);
    }
  }
  add_needs(all, random);
  return all;
}

/// Indices 0 .. n - 1 with owners at random, ascending on each rank.
inline Entries entries_at_random(std::uint64_t seed) {
  Random random(seed);
  Entries all;
  all.owned.resize(static_cast<std::size_t>(world_size()));
  const auto num_indices = static_cast<GlobalIndex>(random.below(80));
  for (GlobalIndex g = 0; g < num_indices; ++g) {
    const auto rank = static_cast<Rank>(random.below(static_cast<std::uint64_t>(world_size())));
    all.owner[g] = rank;
    all.owned[static_cast<std::size_t>(rank)].push_back(g);
  }
  add_needs(all, random);
  return all;
}

/// Indices from all of 64 bits, negative ones too, in any order on each rank.
inline Entries sparse_entries(std::uint64_t seed) {
  Random random(seed);
  Entries all;
  all.owned.resize(static_cast<std::size_t>(world_size()));
  for (std::uint64_t left = random.below(80); left > 0; --left) {
    const auto g = static_cast<GlobalIndex>(random.next());
    const auto rank = static_cast<Rank>(random.below(static_cast<std::uint64_t>(world_size())));
    if (!all.owner.emplace(g, rank).second) continue;
    all.owned[static_cast<std::size_t>(rank)].push_back(g);
  }
  add_needs(all, random);
  return all;
}

using MakeHalo = mpi::Halo(const Entries& all, const mpi::PlanOptions& options);

inline mpi::Halo halo_of(const Entries& all, const mpi::Ownership& ownership,
                         const mpi::PlanOptions& options) {
  return mpi::Halo(MPI_COMM_WORLD, ownership, all.needed[static_cast<std::size_t>(world_rank())], options);
}

inline mpi::Halo halo_by_list(const Entries& all, const mpi::PlanOptions& options = {}) {
  return halo_of(all, mpi::Ownership::list(all.owned[static_cast<std::size_t>(world_rank())]), options);
}

/// Of entries_in_ranges().
inline mpi::Halo halo_by_ranges(const Entries& all, const mpi::PlanOptions& options = {}) {
  std::vector<GlobalIndex> begins = {all.owner.empty() ? 0 : all.owner.begin()->first};
  for (const auto& owned : all.owned)
    begins.push_back(begins.back() + static_cast<GlobalIndex>(owned.size()));
  return halo_of(all, mpi::Ownership::ranges(begins), options);
}

/// Of entries_at_random().
inline mpi::Halo halo_by_array(const Entries& all, const mpi::PlanOptions& options = {}) {
  std::vector<Rank> owners;
  for (const auto& [index, rank] : all.owner) owners.push_back(rank);
  return halo_of(all, mpi::Ownership::array(owners), options);
}

inline mpi::Halo halo_by_function(const Entries& all, const mpi::PlanOptions& options = {}) {
  const auto rule = [&](GlobalIndex g) { return all.owner.contains(g) ? all.owner.at(g) : no_rank; };
  const auto& mine = all.owned[static_cast<std::size_t>(world_rank())];
  return halo_of(all, mpi::Ownership::function(mine, rule), options);
}

/// Component c of the value of an entry. Sums of these depend on the order in which they are added.
template <typename T>
T value_of(GlobalIndex index, int c, std::uint64_t salt = 0) {
  Random random(static_cast<std::uint64_t>(index) * 31 + static_cast<std::uint64_t>(c) + salt * 1009);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random.below(1000));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>((random.unit() - 0.5) * std::pow(10.0, static_cast<double>(random.below(12))));
  } else {  // complex
    using Part = typename T::value_type;
    return T(value_of<Part>(index, c, salt + 1), value_of<Part>(index, c, salt + 2));
  }
}

template <typename T>
std::vector<T> values_of(const std::vector<GlobalIndex>& indices, int components, std::uint64_t salt = 0) {
  std::vector<T> values;
  for (const GlobalIndex g : indices)
    for (int c = 0; c < components; ++c) values.push_back(value_of<T>(g, c, salt));
  return values;
}

/// Owned values of this rank after a scatter in which rank r contributes values with
/// salt 100 + r, in the order of the ranks.
template <typename T, typename Op>
std::vector<T> scattered(const Entries& all, int components, Op op) {
  const auto& mine = all.owned[static_cast<std::size_t>(world_rank())];
  std::vector<T> values = values_of<T>(mine, components);
  for (Rank src = 0; src < all.num_ranks(); ++src) {
    const std::vector<GlobalIndex> theirs = all.ghosts(src);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (std::ranges::find(theirs, mine[i]) == theirs.end()) continue;
      for (int c = 0; c < components; ++c) {
        T& value = values[i * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)];
        value = static_cast<T>(op(value, value_of<T>(mine[i], c, 100 + static_cast<std::uint64_t>(src))));
      }
    }
  }
  return values;
}

}  // namespace nuice::test
