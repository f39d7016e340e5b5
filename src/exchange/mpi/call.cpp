// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/mpi/call.hpp"

#include <string>

#include "nuice/error.hpp"

namespace nuice::mpi {

void must(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw Error(ErrorCode::mpi, std::string(call) + ": " +
                                  (length > 0 ? std::string(text, static_cast<std::size_t>(length))
                                              : "error code " + std::to_string(code)));
}

bool is_finalized() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

}  // namespace nuice::mpi
