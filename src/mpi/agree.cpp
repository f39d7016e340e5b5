// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/mpi/agree.hpp"

#include <climits>

#include "mpi/call.hpp"

namespace nuice::mpi {
namespace {

/// Collective. That rank's text, on all ranks.
void broadcast_text(MPI_Comm comm, std::string& text, Rank root) {
  auto length = static_cast<int>(text.size());
  must(MPI_Bcast(&length, 1, MPI_INT, root, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  must(MPI_Bcast(text.data(), length, MPI_CHAR, root, comm), "MPI_Bcast");
}

}  // namespace

void agree(MPI_Comm comm, const Outcome& mine) {
  const int nobody = INT_MAX;
  const int offer = mine ? rank_in(comm) : nobody;
  int lowest = nobody;
  must(MPI_Allreduce(&offer, &lowest, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (lowest == nobody) return;
  int code = offer == lowest ? static_cast<int>(mine->code()) : 0;
  std::string text = offer == lowest ? mine->what() : "";
  must(MPI_Bcast(&code, 1, MPI_INT, lowest, comm), "MPI_Bcast");
  broadcast_text(comm, text, lowest);
  throw Error(static_cast<ErrorCode>(code), text);
}

std::string text_of_rank_0(MPI_Comm comm, std::string text) {
  broadcast_text(comm, text, 0);
  return text;
}

}  // namespace nuice::mpi
