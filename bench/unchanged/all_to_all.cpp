// SPDX-License-Identifier: BSD-3-Clause
// A program without NUICE: MPI_Alltoallv in a loop, with patterns that repeat, alternate or change with every
// call; or MPI_Neighbor_alltoall on a periodic grid; or their nonblocking and persistent forms. bench/run.py
// unchanged starts it with and without the drop-in. Prints in ms the time of all calls on the slowest rank,
// and for each call the time until it ended on all ranks after the previous call.
//
// usage: all_to_all CASE CALLS
//
// CASE: changing, turns, grid:BYTES, or D:BYTES (D partners, BYTES for each)
//
// iD:BYTES is MPI_Ialltoallv, MPI_Wait and, as in solvers, an MPI_Allreduce of one number. pD:BYTES is the
// same with MPI_Alltoallv_init and MPI_Start. igrid:BYTES and pgrid:BYTES are MPI_Ineighbor_alltoallv and its
// persistent form, with MPI_Wait only. If :MS follows, the program sleeps MS milliseconds before it waits, as
// if another processor computed. sgrid:BYTES is igrid with an MPI_Allreduce after each call, in which the
// drop-in may agree.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

// The mpi.h of Open MPI 4 does not declare these functions either.
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Neighbor_alltoallv_init MPIX_Neighbor_alltoallv_init
extern "C" int MPIX_Alltoallv_init(const void*, const int*, const int*, MPI_Datatype, void*, const int*,
                                   const int*, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*);
extern "C" int MPIX_Neighbor_alltoallv_init(const void*, const int*, const int*, MPI_Datatype, void*,
                                            const int*, const int*, MPI_Datatype, MPI_Comm, MPI_Info,
                                            MPI_Request*);
#endif

namespace {

struct Pattern {
  std::vector<int> out, in, out_at, in_at;
};

/// Makes a pattern from bytes(from, to), which is the same on all ranks.
template <typename Bytes>
Pattern pattern_of(int me, int n, Bytes&& bytes) {
  Pattern p;
  int out_total = 0;
  int in_total = 0;
  for (int other = 0; other < n; ++other) {
    p.out.push_back(other == me ? 0 : bytes(me, other));
    p.in.push_back(other == me ? 0 : bytes(other, me));
    p.out_at.push_back(out_total);
    p.in_at.push_back(in_total);
    out_total += p.out.back();
    in_total += p.in.back();
  }
  return p;
}

Pattern partners(int me, int n, int degree, int bytes, int stride) {
  return pattern_of(me, n, [&](int from, int to) {
    for (int k = 1; k <= degree; ++k)
      if ((from + k * stride) % n == to) return bytes;
    return 0;
  });
}

/// Draws about 8 of 16 partners, with 0 to 128 KiB each.
Pattern drawn(int me, int n, unsigned seed) {
  return pattern_of(me, n, [&](int from, int to) {
    std::minstd_rand random(seed * 1009U + static_cast<unsigned>(from * n + to) * 9176U + 1U);
    random.discard(3);
    return random() % 2 == 0 ? 0 : static_cast<int>(random() % 131072U);
  });
}

Pattern of_grid(int bytes) {
  const std::vector<int> counts(4, bytes);
  const std::vector<int> at = {0, bytes, 2 * bytes, 3 * bytes};
  return {counts, counts, at, at};
}

MPI_Comm grid_of(int n) {
  int sizes[] = {0, 0};
  const int periods[] = {1, 1};
  MPI_Comm grid;
  MPI_Dims_create(n, 2, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
  return grid;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me = 0;
  int n = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  std::string name = argc > 1 ? argv[1] : "8:65536";
  const bool is_plain = std::string("ips").find(name.front()) == std::string::npos;
  const char form = is_plain ? 'b' : name.front();
  if (form != 'b') name.erase(0, 1);
  const int calls = argc > 2 ? std::atoi(argv[2]) : 20;
  const auto colon = name.find(':');
  const auto last = name.find(':', colon + 1);
  const auto sleep_us = last == std::string::npos ? 0 : 1000 * std::atoi(name.c_str() + last + 1);
  std::vector<Pattern> patterns;
  const bool on_grid = name.starts_with("grid");
  const int bytes = colon == std::string::npos ? 0 : std::atoi(name.c_str() + colon + 1);
  const MPI_Comm grid = on_grid ? grid_of(n) : MPI_COMM_NULL;
  for (int call = 0; call < calls && !on_grid; ++call) {
    if (name == "changing") {
      patterns.push_back(drawn(me, n, static_cast<unsigned>(call)));
    } else if (name == "turns") {
      patterns.push_back(call % 2 == 0 ? partners(me, n, 4, 131072, 3) : partners(me, n, n - 1, 16384, 1));
    } else {
      patterns.push_back(partners(me, n, std::min(n - 1, std::atoi(name.c_str())), bytes, 1));
    }
  }
  if (on_grid) patterns.assign(static_cast<std::size_t>(calls), of_grid(bytes));
  std::vector<char> data(std::size_t{1} << 22);
  std::vector<char> came(data.size());
  std::vector<double> ends(static_cast<std::size_t>(calls));
  const MPI_Comm comm = on_grid ? grid : MPI_COMM_WORLD;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (form == 'p') {
    const Pattern& p = patterns.front();
    const auto init = on_grid ? MPI_Neighbor_alltoallv_init : MPI_Alltoallv_init;
    init(data.data(), p.out.data(), p.out_at.data(), MPI_CHAR, came.data(), p.in.data(), p.in_at.data(),
         MPI_CHAR, comm, MPI_INFO_NULL, &request);
  }
  for (std::size_t call = 0; call < ends.size(); ++call) {
    const Pattern& p = patterns[call];
    if (form == 'p') {
      MPI_Start(&request);
    } else if (form != 'b') {
      const auto begin_call = on_grid ? MPI_Ineighbor_alltoallv : MPI_Ialltoallv;
      begin_call(data.data(), p.out.data(), p.out_at.data(), MPI_CHAR, came.data(), p.in.data(),
                 p.in_at.data(), MPI_CHAR, comm, &request);
    } else if (on_grid) {
      MPI_Neighbor_alltoall(data.data(), bytes, MPI_CHAR, came.data(), bytes, MPI_CHAR, grid);
    } else {
      MPI_Alltoallv(data.data(), p.out.data(), p.out_at.data(), MPI_CHAR, came.data(), p.in.data(),
                    p.in_at.data(), MPI_CHAR, MPI_COMM_WORLD);
    }
    if (sleep_us > 0) usleep(static_cast<unsigned>(sleep_us));
    if (form != 'b') MPI_Wait(&request, MPI_STATUS_IGNORE);
    double sum = 1;
    const bool reduces = form == 's' || (form != 'b' && !on_grid);
    if (reduces) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ends[call] = 1e3 * (MPI_Wtime() - begin);
  }
  if (form == 'p') MPI_Request_free(&request);
  MPI_Allreduce(MPI_IN_PLACE, ends.data(), calls, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (me == 0) {
    std::printf("milliseconds %.3f\neach", ends.back());
    for (std::size_t call = 0; call < ends.size(); ++call)
      std::printf(" %.1f", ends[call] - (call == 0 ? 0 : ends[call - 1]));
    std::printf("\n");
  }
  MPI_Finalize();
}
