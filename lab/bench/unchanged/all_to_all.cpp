// SPDX-License-Identifier: BSD-3-Clause
// A program that knows nothing of NUICE: MPI_Alltoallv in a loop, with patterns that repeat, change with every call, or take turns; or
// MPI_Neighbor_alltoall on a periodic grid.
// lab/bench/run.py unchanged starts it with and without the drop-in. Prints, in ms, the time of all calls of the slowest rank, and when each call had
// ended on all ranks after the one before.
//
// usage: all_to_all CASE CALLS          CASE: changing, turns, grid:BYTES, or D:BYTES, D partners and so many bytes for each
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

struct Pattern {
  std::vector<int> out, in, out_at, in_at;
};

/// bytes(from, to), the same on all ranks.
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

/// Some 8 partners of 16 with 0 to 128 KiB.
Pattern drawn(int me, int n, unsigned seed) {
  return pattern_of(me, n, [&](int from, int to) {
    std::minstd_rand random(seed * 1009U + static_cast<unsigned>(from * n + to) * 9176U + 1U);
    random.discard(3);
    return random() % 2 == 0 ? 0 : static_cast<int>(random() % 131072U);
  });
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
  const std::string name = argc > 1 ? argv[1] : "8:65536";
  const int calls = argc > 2 ? std::atoi(argv[2]) : 20;
  const auto colon = name.find(':');
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
  std::vector<char> data(std::size_t{1} << 22);
  std::vector<char> came(data.size());
  std::vector<double> ends(static_cast<std::size_t>(calls));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (std::size_t call = 0; call < ends.size(); ++call) {
    if (on_grid) {
      MPI_Neighbor_alltoall(data.data(), bytes, MPI_CHAR, came.data(), bytes, MPI_CHAR, grid);
    } else {
      const Pattern& p = patterns[call];
      MPI_Alltoallv(data.data(), p.out.data(), p.out_at.data(), MPI_CHAR, came.data(), p.in.data(),
                    p.in_at.data(), MPI_CHAR, MPI_COMM_WORLD);
    }
    ends[call] = 1e3 * (MPI_Wtime() - begin);
  }
  MPI_Allreduce(MPI_IN_PLACE, ends.data(), calls, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (me == 0) {
    std::printf("milliseconds %.3f\neach", ends.back());
    for (std::size_t call = 0; call < ends.size(); ++call)
      std::printf(" %.1f", ends[call] - (call == 0 ? 0 : ends[call - 1]));
    std::printf("\n");
  }
  MPI_Finalize();
}
