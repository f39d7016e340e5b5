// SPDX-License-Identifier: BSD-3-Clause
// Ghost values of points: the only part of the program that exchanges more than a few numbers. with_nuice.cpp and
// baseline_mpi.cpp are the same program, with nuice and with MPI alone.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/halo_facts.hpp"
#include "nuice/mpi/halo_field.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::euler {

/// Brings the ghosts of one array up to date.
class GhostUpdate {
 public:
  virtual ~GhostUpdate() = default;
  virtual void start() = 0;
  virtual void wait() = 0;
};

/// This rank's points: owned ones, by ascending global number, then ghosts.
class Halos {
 public:
  virtual ~Halos() = default;
  virtual std::size_t num_owned() const = 0;
  virtual std::size_t num_entries() const = 0;
  virtual std::int32_t local_index(std::int32_t point) const = 0;
  /// Collective. values: num_entries() * components numbers, which must stay where they are.
  virtual std::unique_ptr<GhostUpdate> bind(std::span<double> values, int components) = 0;
};

/// Collective. owners[p]: the rank that owns point p; needed: the points that this rank works with. facts: of one
/// update of the four flow variables.
std::unique_ptr<Halos> make_with_nuice(const std::vector<Rank>& owners, std::span<const std::int64_t> needed,
                                       const mpi::PlanOptions& options, apps::HaloFacts& facts);
std::unique_ptr<Halos> make_with_isend(const std::vector<Rank>& owners, std::span<const std::int64_t> needed);
std::unique_ptr<Halos> make_with_neighbor(const std::vector<Rank>& owners,
                                          std::span<const std::int64_t> needed);

}  // namespace nuice::euler
