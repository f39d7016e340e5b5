// SPDX-License-Identifier: BSD-3-Clause
// Ghost values: the only part of the programs that exchanges more than a few numbers. with_nuice.cpp
// implements it with NUICE, and baseline_mpi.cpp with MPI only.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::apps {

/// The properties of a planned halo. They are the same on all ranks.
struct HaloFacts {
  CommMatrix pattern;  // of one exchange
  mpi::PlanInfo plan;
};

/// Updates the ghosts of one array.
class GhostUpdate {
 public:
  virtual ~GhostUpdate() = default;
  virtual void start() = 0;
  virtual void wait() = 0;
};

/// This rank's entries: owned entries by ascending global number, then ghosts.
class Halos {
 public:
  virtual ~Halos() = default;
  virtual std::size_t num_owned() const = 0;
  virtual std::size_t num_entries() const = 0;
  virtual std::int32_t local_index(std::int64_t entry) const = 0;
  /// Collective. Binds an array of num_entries() * components numbers, which must not move.
  virtual std::unique_ptr<GhostUpdate> bind(std::span<double> values, int components) = 0;
  /// Collective. Returns the facts of one update with this number of components; nothing without a plan.
  virtual std::optional<HaloFacts> facts(int /*components*/) { return std::nullopt; }
};

/// The owners, and the entries that this rank uses, by global numbers.
struct Entries {
  std::vector<std::int64_t> owned;  // ascending
  std::function<Rank(std::int64_t)> owner;
  std::vector<std::int64_t> needed;  // may contain owned entries and duplicates
  int components = 1;                // of the most frequent update
};

/// A method of exchanging halos. make is collective.
struct HaloWay {
  std::string_view name;
  std::unique_ptr<Halos> (*make)(const Entries& entries, const mpi::PlanOptions& options);
};
std::unique_ptr<Halos> make_with_nuice(const Entries& entries, const mpi::PlanOptions& options);
std::unique_ptr<Halos> make_with_isend(const Entries& entries, const mpi::PlanOptions& options);
std::unique_ptr<Halos> make_with_neighbor(const Entries& entries, const mpi::PlanOptions& options);

inline constexpr std::array<HaloWay, 3> halo_ways = {
    {{"nuice", make_with_nuice}, {"isend", make_with_isend}, {"neighbor", make_with_neighbor}}};

}  // namespace nuice::apps
