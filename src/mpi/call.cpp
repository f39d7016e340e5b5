// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call.hpp"

#include "mpi/observing.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

std::string error_text(int code, const char* call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  return std::string(call) + ": " +
         (length > 0 ? std::string(text, static_cast<std::size_t>(length))
                     : "error code " + std::to_string(code));
}

void fail(int code, const char* call) { throw Error(ErrorCode::mpi, error_text(code, call)); }

void must_duplicate(int code) {
  if (code == MPI_SUCCESS) return;
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  const bool may_be_full =
      error_class == MPI_ERR_OTHER || error_class == MPI_ERR_INTERN || error_class == MPI_ERR_NO_MEM;
  const std::string hint = may_be_full
                               ? "MPI makes no more communicators (MPICH has 2,048 in all; plans of one "
                                 "communicator share two): free some; "
                               : "";
  throw Error(ErrorCode::mpi, hint + error_text(code, "MPI_Comm_idup"));
}

std::atomic<const Observer*> current_observer = nullptr;

void set_observer(const Observer& observer) {
  static Observer kept;
  current_observer = nullptr;
  kept = observer;
  if (observer.begin != nullptr || observer.end != nullptr) current_observer = &kept;
}

bool is_finalized() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

void require_running(const char* call) {
  if (is_finalized()) throw Error(ErrorCode::state, std::string(call) + " after MPI_Finalize");
}

}  // namespace nuice::mpi
