// SPDX-License-Identifier: BSD-3-Clause
// nuice/nuice17.hpp by a compiler of C++17, which must not need more.
#include "nuice/nuice17.hpp"

#include <cstdio>

static_assert(__cplusplus < 202002L);

namespace {

int num_failed = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  ++num_failed;
  std::printf("not true: %s\n", what);
}

void run() {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto n = static_cast<std::size_t>(size);
  const std::vector<int> ones(n, 1);
  std::vector<int> places(n);
  for (std::size_t i = 0; i < n; ++i) places[i] = static_cast<int>(i);
  const std::vector<double> sent(n, rank);
  std::vector<double> received(n, -1);
  nuice17::Request x =
      nuice17::alltoallv_init(sent.data(), ones.data(), places.data(), MPI_DOUBLE, received.data(),
                              ones.data(), places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  x.start();
  nuice17::Request moved = std::move(x);
  while (!moved.test()) {
  }
  for (std::size_t i = 0; i < n; ++i)
    check(received[i] == static_cast<double>(i), "what another rank has sent");

  nuice17::Plan plan(MPI_COMM_WORLD, {(rank + 1) % size}, {8}, "scheduler=coloring");
  check(plan.sources().first == std::vector<int>{(rank + size - 1) % size}, "the source");
  const double mine = 10.0 * rank;
  double other = -1;
  nuice17::Request ring = plan.bind(&mine, 8, &other, 8);
  ring.start();
  check(ring.next() == 0 && ring.next() == -1, "one message");
  check(other == 10.0 * ((rank + size - 1) % size), "the message");
  ring.free();
  try {
    ring.start();
    check(false, "an exchange that was freed");
  } catch (const nuice17::Error& error) {
    check(error.status() == NUICE_ERR_INVALID_ARGUMENT, "the status");
  }
  ring = std::move(moved);
  ring.start();  // ended by the destructor
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run();
  MPI_Allreduce(MPI_IN_PLACE, &num_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return num_failed == 0 ? 0 : 1;
}
