// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/agree.hpp"

#include <climits>

#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::mpi {
namespace {

// Calls MPI's collective operations on a user's communicator, without the checks for deaths and timeouts that
// Communicator makes.
void all_reduce(MPI_Comm comm, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op) {
  must(MPI_Allreduce(in, out, count, type, op, comm), "MPI_Allreduce");
}
void broadcast(MPI_Comm comm, void* data, int count, MPI_Datatype type, Rank root) {
  must(MPI_Bcast(data, count, type, root, comm), "MPI_Bcast");
}
Rank place_in(MPI_Comm comm) { return rank_in(comm); }
Rank place_in(const Communicator& comm) { return comm.rank(); }

/// Collective. Sends the text of rank `root` to all ranks.
template <typename Comm>
void broadcast_text(const Comm& comm, std::string& text, Rank root) {
  auto length = static_cast<int>(text.size());
  broadcast(comm, &length, 1, MPI_INT, root);
  text.resize(static_cast<std::size_t>(length));
  broadcast(comm, text.data(), length, MPI_CHAR, root);
}

template <typename Comm>
void agree_on(const Comm& comm, const Outcome& mine) {
  const int nobody = INT_MAX;
  const int offer = mine ? place_in(comm) : nobody;
  int lowest = nobody;
  all_reduce(comm, &offer, &lowest, 1, MPI_INT, MPI_MIN);
  if (lowest == nobody) return;
  int code = offer == lowest ? static_cast<int>(mine->code()) : 0;
  std::string text = offer == lowest ? mine->what() : "";
  broadcast(comm, &code, 1, MPI_INT, lowest);
  broadcast_text(comm, text, lowest);
  throw Error(static_cast<ErrorCode>(code), text);
}

}  // namespace

void agree(MPI_Comm comm, const Outcome& mine) { agree_on(comm, mine); }
void agree(const Communicator& comm, const Outcome& mine) { agree_on(comm, mine); }

std::string text_of_rank_0(MPI_Comm comm, std::string text) {
  broadcast_text(comm, text, 0);
  return text;
}

std::string text_of_rank_0(const Communicator& comm, std::string text) {
  broadcast_text(comm, text, 0);
  return text;
}

}  // namespace nuice::mpi
