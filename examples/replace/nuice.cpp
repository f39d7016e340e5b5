// SPDX-License-Identifier: BSD-3-Clause
// Every step a rank sends each other one some numbers, and works with what it got.
#include <mpi.h>
#include <nuice/mpi/alltoallv.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

void run(MPI_Comm comm) {
  constexpr int each = 8;
  constexpr int steps = 50;
  int rank = 0;
  int n = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  std::vector<int> sc, sd, rc, rd;
  for (int i = 0; i < n; ++i) {
    sc.push_back(1 + (rank + 2 * i) % each);
    rc.push_back(1 + (i + 2 * rank) % each);
    sd.push_back(each * i);
    rd.push_back(each * i);
  }
  std::vector<double> s(each * n), r(each * n);
  for (int k = 0; k < each * n; ++k) s[k] = rank + 0.01 * k;
  auto x = nuice::mpi::alltoallv_init(comm, s, sc, sd, r, rc, rd);
  for (int step = 0; step < steps; ++step) {
    x.start(), x.wait();
    for (int k = 0; k < each * n; ++k) s[k] = 0.75 * s[k] + 0.25 * r[k];
  }
  const double mine = std::accumulate(s.begin(), s.end(), 0.0);
  double sum = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  if (rank == 0) std::printf("sum after %d steps: %.9f\n", steps, sum);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run(MPI_COMM_WORLD);
  MPI_Finalize();
}
