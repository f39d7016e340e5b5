// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "mpi/call.hpp"

namespace nuice::mpi {

void agree(const Communicator& comm, const Outcome& mine) {
  const int no_failure = INT_MAX;
  const int offer = mine ? comm.rank() : no_failure;
  int lowest = no_failure;
  all_reduce(comm, &offer, &lowest, 1, MPI_INT, MPI_MIN);
  if (lowest == no_failure) return;

  const bool is_mine = comm.rank() == lowest;
  int head[2] = {0, 0};  // code, length of the text
  if (is_mine) {
    head[0] = static_cast<int>(mine->code());
    head[1] = static_cast<int>(std::strlen(mine->what()));
  }
  broadcast(comm, head, 2, MPI_INT, lowest);
  std::string text(static_cast<std::size_t>(head[1]), '\0');
  if (is_mine) std::copy_n(mine->what(), text.size(), text.begin());
  broadcast(comm, text.data(), head[1], MPI_CHAR, lowest);
  throw Error(static_cast<ErrorCode>(head[0]), text);
}

std::string text_of_rank_0(const Communicator& comm, std::string text) {
  auto length = static_cast<int>(text.size());
  broadcast(comm, &length, 1, MPI_INT, 0);
  text.resize(static_cast<std::size_t>(length));
  broadcast(comm, text.data(), length, MPI_CHAR, 0);
  return text;
}

}  // namespace nuice::mpi
