// SPDX-License-Identifier: BSD-3-Clause
// The exchange of main.cpp with MPI alone: the ranks learn their sources, then every round posts all
// receives and all sends, in the order of ranks and with whatever contention that brings.
#include <mpi.h>

#include <cstdio>

#include "problem.hpp"

namespace {

double run(int rank, int num_ranks) {
  std::vector<Outgoing> outgoing = make_outgoing(rank, num_ranks);

  std::vector<int> sent(static_cast<std::size_t>(num_ranks), 0);
  std::vector<int> received(sent.size(), 0);
  for (const Outgoing& one : outgoing)
    sent[static_cast<std::size_t>(one.dst)] = static_cast<int>(one.values.size());
  MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT,
               MPI_COMM_WORLD);  // num_ranks numbers per rank

  std::vector<std::vector<double>> incoming(received.size());
  for (std::size_t src = 0; src < received.size(); ++src)
    incoming[src].resize(static_cast<std::size_t>(received[src]));

  double sum = 0;
  for (int round = 0; round < num_rounds; ++round) {
    compute(outgoing, rank, round);
    std::vector<MPI_Request> requests;
    for (int src = 0; src < num_ranks; ++src) {
      std::vector<double>& values = incoming[static_cast<std::size_t>(src)];
      if (values.empty()) continue;
      MPI_Irecv(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, src, 0, MPI_COMM_WORLD,
                &requests.emplace_back());
    }
    for (const Outgoing& one : outgoing)
      MPI_Isend(one.values.data(), static_cast<int>(one.values.size()), MPI_DOUBLE, one.dst, 0,
                MPI_COMM_WORLD, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const std::vector<double>& values : incoming)
      for (const double value : values) sum += value;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int num_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const double mine = run(rank, num_ranks);
  double all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("sum of all that was received: %.0f\n", all);
  MPI_Finalize();
}
