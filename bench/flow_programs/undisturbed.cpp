// SPDX-License-Identifier: BSD-3-Clause
// Times messages between two ranks without contention: there and back, and a stream. Rank 0 prints one JSON
// object per line: {"case", "bytes", "seconds" (the median of a message in one direction), "cpu_s" (processor
// time of both ranks per message)}. Waiting ranks poll all the time, so processor time is only meaningful if
// it is the limit.
//   mpiexec -n 2 undisturbed REPS
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int messages_of_stream = 16;

double processor_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void there_and_back(int rank, std::vector<char>& data, int bytes) {
  if (rank == 0) MPI_Send(data.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(data.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(data.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

void stream(int rank, std::vector<char>& data, int bytes) {
  std::vector<MPI_Request> requests(messages_of_stream);
  for (MPI_Request& request : requests)
    if (rank == 0)
      MPI_Isend(data.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    else
      MPI_Irecv(data.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  MPI_Waitall(messages_of_stream, requests.data(), MPI_STATUSES_IGNORE);
  char done = 0;
  if (rank == 1) MPI_Send(&done, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&done, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void measure(const char* name, void (*run)(int, std::vector<char>&, int), int messages, int bytes, int reps) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<char> data(static_cast<std::size_t>(bytes), 'x');
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) run(rank, data, bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  double used = -processor_s();
  for (int i = 0; i < reps; ++i) {
    const double begin = MPI_Wtime();
    run(rank, data, bytes);
    times.push_back((MPI_Wtime() - begin) / messages);
  }
  used += processor_s();
  double of_both = 0;
  MPI_Reduce(&used, &of_both, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::ranges::nth_element(times, times.begin() + reps / 2);
  std::printf("{\"case\": \"%s\", \"bytes\": %d, \"seconds\": %.9g, \"cpu_s\": %.9g}\n", name, bytes,
              times[static_cast<std::size_t>(reps / 2)], of_both / (reps * messages));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int reps = argc > 1 ? std::atoi(argv[1]) : 100;
  for (const int bytes : {1, 1 << 10, 1 << 13, 1 << 16, 1 << 20, 1 << 24})
    measure("ping-pong", there_and_back, 2, bytes, bytes > (1 << 16) ? std::max(reps / 20, 1) : reps);
  for (const int bytes : {1 << 10, 1 << 16, 1 << 20})
    measure("stream", stream, messages_of_stream, bytes, std::max(reps / 20, 5));
  MPI_Finalize();
}
