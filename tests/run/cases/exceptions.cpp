// SPDX-License-Identifier: BSD-3-Clause
// Error handlers that throw: the exception comes out of whichever call
// has failed, and afterwards all goes on.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void throws(MPI_Comm*, int* code, ...) {
  int error_class = 0;
  MPI_Error_class(*code, &error_class);
  throw std::runtime_error("class " + std::to_string(error_class));
}

template <typename Call>
void say(int rank, const char* what, Call&& call) {
  try {
    call();
    std::printf("%d %s: nothing\n", rank, what);
  } catch (const std::runtime_error& error) {
    std::printf("%d %s: %s\n", rank, what, error.what());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm own;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(throws, &handler);
  MPI_Comm_set_errhandler(own, handler);
  const int k = 40000;
  std::vector<int> out(static_cast<std::size_t>(ranks * k), rank), in(out.size());
  MPI_Request q = MPI_REQUEST_NULL;
  for (int round = 0; round < 6; ++round) {
    say(rank, "alltoall", [&] { MPI_Alltoall(out.data(), -1, MPI_INT, in.data(), 10, MPI_INT, own); });
    say(rank, "ialltoall", [&] { MPI_Ialltoall(out.data(), -1, MPI_INT, in.data(), 10, MPI_INT, own, &q); });
    say(rank, "send", [&] { MPI_Send(out.data(), 1, MPI_INT, ranks + 5, 0, own); });
    say(rank, "isend", [&] { MPI_Isend(out.data(), 1, MPI_INT, ranks + 5, 0, own, &q); });
    say(rank, "recv", [&] {
      MPI_Isend(out.data(), 8, MPI_INT, rank, 1, MPI_COMM_WORLD, &q);
      MPI_Wait(&q, MPI_STATUS_IGNORE);
      MPI_Recv(in.data(), 8, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    say(rank, "good", [&] { MPI_Alltoall(out.data(), k, MPI_INT, in.data(), k, MPI_INT, own); });
    for (int from = 0; from < ranks; ++from)
      if (in[static_cast<std::size_t>(from * k)] != from) std::printf("%d WRONG\n", rank);
  }
  MPI_Comm_free(&own);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
}
