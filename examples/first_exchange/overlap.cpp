// SPDX-License-Identifier: BSD-3-Clause
// Work on every message as soon as it arrives, while others are in flight,
// compared with waiting for all of them first.
//
//   mpiexec -n 8 overlap [KiB per message = 64] [us of work per message = 1000] [partners = 7]
//                        [executor = phased]
//
// With d messages that take t each to arrive and w of work on each, waiting first costs about d t + d w, and
// working as they land max(d t, d w) and the last one's w or the first one's t. That needs somebody else to
// move the bytes meanwhile, a network: ranks that share memory copy them themselves and gain little.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nuice/core/error.hpp>
#include <nuice/mpi.hpp>
#include <thread>
#include <vector>

namespace {

struct Case {
  std::size_t words;  // per message
  double work_us;
  int partners;
  std::string executor;
};

void pause_us(double us) { std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us)); }

/// What a program does with a message. A pause stands for the rest of the work, so that ranks which share
/// cores do not take them from each other.
long work_on(std::span<const std::byte> data, const Case& c) {
  long sum = 0;
  for (const std::byte byte : data) sum += std::to_integer<long>(byte);
  pause_us(c.work_us);
  return sum;
}

/// One exchange and its work, in seconds on this rank.
double run(nuice::mpi::Exchange& exchange, const std::vector<std::vector<std::byte>>& incoming, const Case& c,
           bool as_they_land, long& sum) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  exchange.start();
  if (as_they_land) {
    exchange.wait_each([&](nuice::Partner, std::span<std::byte> data) { sum += work_on(data, c); });
  } else {
    exchange.wait();
    for (const auto& data : incoming) sum += work_on(data, c);
  }
  return MPI_Wtime() - begin_s;
}

double median_of_maxima(std::vector<double> seconds) {
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void compare(const Case& c, int rank, int num_ranks) {
  const auto bytes = static_cast<nuice::Bytes>(c.words * sizeof(double));
  std::vector<nuice::Partner> destinations;
  for (int k = 1; k <= std::min(c.partners, num_ranks - 1); ++k)
    destinations.push_back({(rank + k) % num_ranks, bytes});
  nuice::mpi::Plan plan(MPI_COMM_WORLD, destinations, {.scheduler = "coloring", .executor = c.executor});
  std::vector<std::vector<std::byte>> outgoing;
  std::vector<std::vector<std::byte>> incoming;
  std::vector<nuice::SendBuffer> send;
  std::vector<nuice::ReceiveBuffer> receive;
  for (const nuice::Partner& to : destinations) {
    outgoing.emplace_back(static_cast<std::size_t>(bytes), std::byte(rank + to.rank));
    send.push_back({outgoing.back().data(), bytes});
  }
  for (std::size_t i = 0; i < plan.sources().size(); ++i) {
    incoming.emplace_back(static_cast<std::size_t>(bytes));
    receive.push_back({incoming.back().data(), bytes});
  }
  nuice::mpi::Exchange exchange = plan.bind(send, receive);
  constexpr int rounds = 11;
  std::vector<double> waiting_s;
  std::vector<double> landing_s;
  long sums[2] = {0, 0};
  for (int round = 0; round < rounds; ++round) {
    waiting_s.push_back(run(exchange, incoming, c, false, sums[0]));
    landing_s.push_back(run(exchange, incoming, c, true, sums[1]));
  }
  const double waiting = median_of_maxima(waiting_s);
  const double landing = median_of_maxima(landing_s);
  if (sums[0] != sums[1]) throw nuice::Error(nuice::ErrorCode::mismatch, "the two ways give different sums");
  if (rank == 0)
    std::printf(
        "%zu messages of %lld bytes a rank, %s: wait, then work %.2f ms; work as they land %.2f ms; ratio "
        "%.2f\n",
        destinations.size(), static_cast<long long>(bytes), c.executor.data(), 1e3 * waiting, 1e3 * landing,
        waiting / landing);
}

double argument(int argc, char** argv, int i, double otherwise) {
  return argc > i ? std::max(0.0, std::atof(argv[i])) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int num_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  int exit_code = 0;
  try {
    const auto words = static_cast<std::size_t>(argument(argc, argv, 1, 64) * 1024 / sizeof(double));
    compare({.words = words,
             .work_us = argument(argc, argv, 2, 1000),
             .partners = static_cast<int>(argument(argc, argv, 3, 7)),
             .executor = argc > 4 ? argv[4] : "phased"},
            rank, num_ranks);
  } catch (const nuice::Error& error) {
    if (rank == 0) std::fprintf(stderr, "overlap: %s\n", error.what());
    exit_code = 1;
  }
  MPI_Finalize();
  return exit_code;
}
