// SPDX-License-Identifier: BSD-3-Clause
#include "common/agree.hpp"

namespace nuice::apps {

Rank world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

Rank world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void throw_together(const std::optional<Error>& mine) {
  const Rank nobody = world_size();
  const Rank offer = mine ? world_rank() : nobody;
  Rank first = nobody;
  MPI_Allreduce(&offer, &first, 1, MPI_INT32_T, MPI_MIN, MPI_COMM_WORLD);
  if (first == nobody) return;
  std::string text = mine ? mine->what() : "";
  int head[2] = {mine ? static_cast<int>(mine->code()) : 0, static_cast<int>(text.size())};
  MPI_Bcast(head, 2, MPI_INT, first, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(head[1]));
  MPI_Bcast(text.data(), head[1], MPI_CHAR, first, MPI_COMM_WORLD);
  throw Error(static_cast<ErrorCode>(head[0]), text);
}

double max_over_ranks(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

}  // namespace nuice::apps
