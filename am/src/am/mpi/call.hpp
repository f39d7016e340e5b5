// SPDX-License-Identifier: BSD-3-Clause
// MPI calls whose errors end the transport, reductions in the background, and parts shared by the layers on
// MPI.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/communicator.hpp"
#include "nuice/am/transport.hpp"

namespace nuice::am::mpi {

using nuice::mpi::all_or_none;
using nuice::mpi::Communicator;
using nuice::mpi::is_finalized;

/// Throws TransportError `mpi` with the name of the call and MPI's text for the code.
[[noreturn]] void fail(int code, const char* call);
inline void must(int code, const char* call) {
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, call);
}

/// Whether MPI was initialized with MPI_THREAD_MULTIPLE.
bool allows_threads();

class Neighbours;

/// The dead ranks: those that MPI knows of (mpi/failure.hpp), and those whose processes on this host have
/// ended.
class Deaths {
 public:
  Deaths(const Communicator& comm, std::shared_ptr<Neighbours> neighbours);
  std::vector<Rank> ranks();
  bool is_orphan() const;

 private:
  const Communicator& comm_;
  std::shared_ptr<Neighbours> neighbours_;
  bool mpi_tells_;
};

/// Implements Transport::start_reduce and test_reduce with MPI: one reduction at a time, of at most
/// Transport::max_reduced values.
class Reduction {
 public:
  void start(MPI_Comm comm, ReduceOp op, std::span<const std::int64_t> values);
  bool test(std::span<std::int64_t> result);

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::array<std::int64_t, 8> in_{};
  std::array<std::int64_t, 8> out_{};
};

}  // namespace nuice::am::mpi
