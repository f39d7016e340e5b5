// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/failure.hpp"

#include <cstdio>
#include <string>

#include "core/support/watchdog.hpp"

namespace nuice::dropin {

Error timeout_of(double watchdog_s, const std::vector<Rank>& ranks) {
  return Error(ErrorCode::timeout,
               "nothing has moved for " + std::to_string(watchdog_s) + " s; waiting for " + names_of(ranks));
}

int report(const char* call, MPI_Comm comm, const std::exception& error) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  std::fprintf(stderr, "nuice: %s on rank %d: %s\n", call, rank, error.what());
  const auto* const known = dynamic_cast<const Error*>(&error);
  if (known == nullptr) return MPI_ERR_NO_MEM;
  return known->code() == ErrorCode::mismatch ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

int told_handler(MPI_Comm comm, int code) {
  PMPI_Comm_call_errhandler(comm, code);
  if (code == MPI_ERR_TRUNCATE) PMPI_Abort(comm, code);  // only the ranks that have seen it would go on
  return code;
}

}  // namespace nuice::dropin
