// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/call.hpp"

#include <algorithm>

namespace nuice::am::mpi {

void fail(int code, const char* call) {
  throw TransportError(ErrorCode::mpi, nuice::mpi::error_text(code, call));
}

bool allows_threads() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  return provided == MPI_THREAD_MULTIPLE;
}

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
