// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/call.hpp"

#include <algorithm>

#include "am/mpi/processes.hpp"
#include "mpi/failure.hpp"

namespace nuice::am::mpi {

void fail(int code, const char* call) {
  throw TransportError(ErrorCode::mpi, nuice::mpi::error_text(code, call));
}

bool allows_threads() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  return provided == MPI_THREAD_MULTIPLE;
}

Deaths::Deaths(const Communicator& comm, std::shared_ptr<Neighbours> neighbours)
    : comm_(comm), neighbours_(std::move(neighbours)), mpi_tells_(nuice::mpi::tells_of_deaths()) {}

std::vector<Rank> Deaths::ranks() {
  std::vector<Rank> dead = neighbours_->dead_ranks();
  if (!mpi_tells_) return dead;
  int flag = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);  // lets MPI learn of
                                                                                     // deaths
  const std::vector<Rank> known = nuice::mpi::dead_ranks(comm_);
  dead.insert(dead.end(), known.begin(), known.end());
  return dead;
}

bool Deaths::is_orphan() const { return neighbours_->is_orphan(); }

void Reduction::start(MPI_Comm comm, ReduceOp op, std::span<const std::int64_t> values) {
  if (values.empty()) {
    must(MPI_Ibarrier(comm, &request_), "MPI_Ibarrier");
    return;
  }
  std::ranges::copy(values, in_.begin());
  must(MPI_Iallreduce(in_.data(), out_.data(), static_cast<int>(values.size()), MPI_INT64_T,
                      op == ReduceOp::sum ? MPI_SUM : MPI_MAX, comm, &request_),
       "MPI_Iallreduce");
}

bool Reduction::test(std::span<std::int64_t> result) {
  int done = 0;
  must(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0) std::copy_n(out_.begin(), result.size(), result.begin());
  return done != 0;
}

}  // namespace nuice::am::mpi
