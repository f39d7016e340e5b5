// SPDX-License-Identifier: BSD-3-Clause
// The complete exchange of a distributed transpose: every rank has a block for every other rank.
// with_nuice.cpp carries it out with NUICE, baseline_mpi.cpp with MPI only.
//
//   forward    column_side[r].block(s) = row_side[s].block(r)    for all ranks r != s
//   backward   row_side[s].block(r) = column_side[r].block(s)
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fft2d/array.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::fft2d {

/// One block per rank, contiguous.
struct Blocks {
  std::vector<std::size_t> begin;  // num_ranks + 1
  std::vector<Complex> memory;

  explicit Blocks(std::vector<std::size_t> begins) : begin(std::move(begins)), memory(begin.back()) {}
  std::size_t count(Rank rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return begin[r + 1] - begin[r];
  }
  std::span<Complex> block(Rank rank) {
    return {memory.data() + begin[static_cast<std::size_t>(rank)], count(rank)};
  }
};

/// This rank's blocks on both sides. The exchange ignores the blocks of a rank for itself.
struct Sides {
  Blocks row_side;
  Blocks column_side;
};

class CompleteExchange {
 public:
  virtual ~CompleteExchange() = default;
  virtual void forward() = 0;
  virtual void backward() = 0;
};

/// Collective. `sides` must outlive the exchange. Throws Error not_applicable on all ranks for a scheduler
/// that plans on MPI do not support.
std::unique_ptr<CompleteExchange> make_with_nuice(Sides& sides, const mpi::PlanOptions& options,
                                                  PhaseId& num_phases);
std::unique_ptr<CompleteExchange> make_with_alltoallv(Sides& sides);
std::unique_ptr<CompleteExchange> make_with_isend(Sides& sides);

}  // namespace nuice::fft2d
