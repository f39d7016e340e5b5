// SPDX-License-Identifier: BSD-3-Clause
// Measures the memory of a rank to which all others send while it computes. Rank 0 posts its receives after
// some seconds, the last one first, and prints one JSON object: {"ranks", "bytes" (of a message),
// "grown_bytes" (the growth of rank 0's peak memory)}.
//   mpiexec -n RANKS unexpected BYTES SECONDS
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

/// Returns a line of /proc/self/status in bytes.
double status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return 1024 * std::strtod(line.c_str() + name.size() + 1, nullptr);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int bytes = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<char> data(static_cast<std::size_t>(bytes), 'x');
  char once = 0;  // connections are made beforehand
  for (int other = 1; other < ranks; ++other) {
    if (rank == 0) MPI_Recv(&once, 1, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == other) MPI_Send(&once, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) MPI_Send(data.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    const double before = status("VmRSS");
    sleep(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 10);
    for (int other = ranks - 1; other > 0; --other)
      MPI_Recv(data.data(), bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::printf("{\"ranks\": %d, \"bytes\": %d, \"grown_bytes\": %.0f}\n", ranks, bytes,
                status("VmHWM") - before);
  }
  MPI_Finalize();
}
