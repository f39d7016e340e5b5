// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/call.hpp"

#include <climits>
#include <new>
#include <string>

#include "nuice/am/transport.hpp"

namespace nuice::am::mpi {

void must(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw TransportError(ErrorCode::mpi, std::string(call) + ": " +
                                           (length > 0 ? std::string(text, static_cast<std::size_t>(length))
                                                       : "error code " + std::to_string(code)));
}

bool is_finalized() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

Communicator::Communicator(MPI_Comm parent) {
  int initialized = 0;
  must(MPI_Initialized(&initialized), "MPI_Initialized");
  if (initialized == 0 || is_finalized())
    throw Error(ErrorCode::state, "active messages are set up between MPI_Init and MPI_Finalize");
  if (parent == MPI_COMM_NULL) throw Error(ErrorCode::invalid_argument, "the communicator is MPI_COMM_NULL");
  int inter = 0;
  must(MPI_Comm_test_inter(parent, &inter), "MPI_Comm_test_inter");
  if (inter != 0) throw Error(ErrorCode::invalid_argument, "the communicator is an intercommunicator");
  must(MPI_Comm_dup(parent, &comm_), "MPI_Comm_dup");
  must(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  must(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  must(MPI_Comm_size(comm_, &num_ranks_), "MPI_Comm_size");
}

Communicator::~Communicator() {
  if (!is_finalized()) MPI_Comm_free(&comm_);
}

void all_or_none(const Communicator& comm, const std::function<void()>& step) {
  int code = 0;
  std::string text;
  try {
    step();
  } catch (const Error& error) {
    code = static_cast<int>(error.code());
    text = error.what();
  } catch (const std::bad_alloc&) {
    code = static_cast<int>(ErrorCode::limit);
    text = "rank " + std::to_string(comm.rank()) + " is out of memory";
  }
  const int offer = code != 0 ? comm.rank() : INT_MAX;
  int lowest = INT_MAX;
  must(MPI_Allreduce(&offer, &lowest, 1, MPI_INT, MPI_MIN, comm.get()), "MPI_Allreduce");
  if (lowest == INT_MAX) return;
  int head[2] = {code, static_cast<int>(text.size())};
  must(MPI_Bcast(head, 2, MPI_INT, lowest, comm.get()), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(head[1]));
  must(MPI_Bcast(text.data(), head[1], MPI_CHAR, lowest, comm.get()), "MPI_Bcast");
  throw Error(static_cast<ErrorCode>(head[0]), text);
}

}  // namespace nuice::am::mpi
