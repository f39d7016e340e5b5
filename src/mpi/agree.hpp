// SPDX-License-Identifier: BSD-3-Clause
// Collective error agreement: a step fails on all ranks with the same Error, or on none.
//
//   all_or_none(comm, [&] { check_my_part(); });
//
// The step must not communicate: a rank that throws early would leave the others waiting in it. Errors that
// MPI itself returns inside a collective operation are outside this promise, as the ranks can then no longer
// talk.
// Cost: one allreduce of an int; only a failure costs two broadcasts more.
#pragma once

#include <mpi.h>

#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "mpi/communicator.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

/// What went wrong on this rank, or nothing.
using Outcome = std::optional<Error>;

/// Collective. Returns if no rank brings an error; otherwise throws that of the lowest rank on all of them.
void agree(const Communicator& comm, const Outcome& mine);

/// Runs the step here and tells how it ended. Whatever it throws becomes an Error, as nothing may leave the
/// ranks with different stories.
template <typename Step>
Outcome attempt(Rank rank, Step&& step) {
  try {
    step();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::limit, "rank " + std::to_string(rank) + " is out of memory");
  } catch (const std::length_error&) {
    return Error(ErrorCode::limit, "rank " + std::to_string(rank) + " cannot hold arrays of this length");
  } catch (const std::exception& error) {
    return Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + ": " + error.what());
  }
}

/// Collective.
template <typename Step>
void all_or_none(const Communicator& comm, Step&& step) {
  agree(comm, attempt(comm.rank(), step));
}

/// Collective. Rank 0's text, on all ranks.
std::string text_of_rank_0(const Communicator& comm, std::string text);

}  // namespace nuice::mpi
