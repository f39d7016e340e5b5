// SPDX-License-Identifier: BSD-3-Clause
// The ranks fail together or not at all.
#pragma once

#include <mpi.h>

#include <exception>
#include <optional>
#include <string>

#include "nuice/core/error.hpp"
#include "nuice/core/types.hpp"

namespace nuice::apps {

Rank world_rank();
Rank world_size();

/// Collective. Throws the error of the lowest rank that has one, on all ranks.
void throw_together(const std::optional<Error>& mine);

/// Collective. Runs the step on all ranks, or on rank 0 only; if it throws anywhere, all ranks throw. The step
/// must not communicate.
template <typename Step>
void together(Step&& step, bool only_rank_0 = false) {
  std::optional<Error> mine;
  try {
    if (!only_rank_0 || world_rank() == 0) step();
  } catch (const Error& error) {
    mine = error;
  } catch (const std::bad_alloc&) {
    mine = Error(ErrorCode::limit, "rank " + std::to_string(world_rank()) + " is out of memory");
  } catch (const std::exception& error) {
    mine = Error(ErrorCode::invalid_argument, error.what());
  }
  throw_together(mine);
}

template <typename Step>
void on_rank_0(Step&& step) {
  together(step, true);
}

/// Collective. The largest value of all ranks.
double max_over_ranks(double value);

}  // namespace nuice::apps
