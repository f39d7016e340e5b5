// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 packs messages with several threads and sends each to another rank. Three methods are interleaved:
// parts that leave when they are packed; parts that leave after all are packed; and the plan `auto` after all
// is packed. Prints one JSON object per method.
//
//   ready_parts BYTES THREADS WORK REPETITIONS     WORK: numbers that are read for each number of a message
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "nuice/mpi/alltoallv.hpp"

namespace {

using nuice::mpi::Exchange;

/// Packs messages in which every number is a sum of several distant numbers.
class Packing {
 public:
  Packing(std::size_t numbers, std::size_t work)
      : numbers_(numbers), work_(work), field_(numbers * work, 1) {}

  void pack(double* message) const {
    for (std::size_t i = 0; i < numbers_; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < work_; ++k) sum += field_[k * numbers_ + i];
      message[i] = sum;
    }
  }

 private:
  std::size_t numbers_;
  std::size_t work_;
  std::vector<double> field_;
};

struct Blocks {
  std::vector<int> counts;
  std::vector<int> displs;
  std::vector<double> data;
};

/// Returns blocks with `each` numbers for every rank that `has` one.
Blocks blocks_with(int ranks, int each, const std::function<bool(int)>& has) {
  Blocks blocks;
  int at = 0;
  for (int i = 0; i < ranks; ++i) {
    blocks.counts.push_back(has(i) ? each : 0);
    blocks.displs.push_back(at);
    at += blocks.counts.back();
  }
  blocks.data.assign(static_cast<std::size_t>(at), 0);
  return blocks;
}

/// Calls act(rank) for ranks 1 .. ranks - 1. Each call is made by the next free thread.
template <typename Act>
std::vector<std::thread> each_in_threads(int threads, int ranks, std::atomic<int>& next, const Act& act) {
  next = 1;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([ranks, &next, &act] {
      for (int k = next++; k < ranks; k = next++) act(k);
    });
  return all;
}

void join(std::vector<std::thread> threads) {
  for (std::thread& thread : threads) thread.join();
}

int run(int argc, char** argv) {
  if (argc != 5) return 2;
  const int each = std::atoi(argv[1]) / static_cast<int>(sizeof(double));
  const int threads = std::atoi(argv[2]);
  const int reps = std::atoi(argv[4]);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // On a test network all hosts share a few cores, and ranks that wait for messages would take these from the
  // packing threads. Real hosts have cores of their own.
  if (rank > 0) setpriority(PRIO_PROCESS, 0, 19);
  Blocks out = blocks_with(ranks, each, [&](int to) { return rank == 0 && to > 0; });
  Blocks in = blocks_with(ranks, each, [&](int from) { return rank > 0 && from == 0; });
  const Packing packing(static_cast<std::size_t>(each), static_cast<std::size_t>(std::atoi(argv[3])));
  const auto make = [&](const nuice::mpi::PlanOptions& options) {
    return nuice::mpi::alltoallv_init(MPI_COMM_WORLD, out.data, out.counts, out.displs, in.data, in.counts,
                                      in.displs, options);
  };
  Exchange parts = make({.parts = true});
  Exchange planned = make({});
  std::atomic<int> next = 1;
  const auto pack = [&](int to) {
    packing.pack(&out.data[static_cast<std::size_t>(out.displs[static_cast<std::size_t>(to)])]);
  };
  const auto pack_all = [&] {
    if (rank == 0) join(each_in_threads(threads, ranks, next, pack));
  };

  const auto start_parts = [&] {
    parts.start();
    for (std::size_t to = 0; to < out.counts.size(); ++to)
      if (out.counts[to] == 0) parts.ready(to);
  };

  struct Way {
    const char* name;
    std::function<void()> run;
    std::vector<double> seconds;
  };
  std::vector<Way> ways = {{"packing alone", pack_all, {}},
                           {"packed, then auto", [&] { pack_all(), planned.start(), planned.wait(); }, {}},
                           {"packed, then parts",
                            [&] {
                              pack_all();
                              start_parts();
                              for (int to = 1; rank == 0 && to < ranks; ++to)
                                parts.ready(static_cast<std::size_t>(to));
                              parts.wait();
                            },
                            {}},
                           {"ready one by one",
                            [&] {
                              start_parts();
                              std::vector<std::thread> packers;
                              const auto pack_and_send = [&](int to) {
                                pack(to), parts.ready(static_cast<std::size_t>(to));
                              };
                              if (rank == 0) packers = each_in_threads(threads, ranks, next, pack_and_send);
                              parts.wait();
                              join(std::move(packers));
                            },
                            {}}};
  for (int rep = -2; rep < reps; ++rep)
    for (Way& way : ways) {
      std::ranges::fill(in.data, -1);
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin_s = MPI_Wtime();
      way.run();
      double taken_s = MPI_Wtime() - begin_s;
      MPI_Allreduce(MPI_IN_PLACE, &taken_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (rep >= 0) way.seconds.push_back(taken_s);
      const bool is_wrong = &way != &ways.front() &&
                            std::ranges::any_of(in.data, [&](double x) { return x != std::atoi(argv[3]); });
      if (is_wrong)
        std::fprintf(stderr, "%s: rank %d has received something else\n", way.name, rank),
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
  for (Way& way : ways) {
    std::ranges::sort(way.seconds);
    if (rank == 0)
      std::printf("{\"way\": \"%s\", \"seconds\": %.9g, \"fastest_s\": %.9g}\n", way.name,
                  way.seconds[way.seconds.size() / 2], way.seconds.front());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
