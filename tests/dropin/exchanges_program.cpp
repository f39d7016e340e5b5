// SPDX-License-Identifier: BSD-3-Clause
// A program that knows nothing of NUICE: blocking all-to-alls of every kind with what they may be given, for check mode, which holds
// every result against MPI's own (replace_test.py). Prints "all right" if its own checks hold, too.
//
// usage: exchanges_program ROUNDS [mismatch|soak|turns|ring]
//
// turns: so many calls of MPI_Alltoallv on one communicator (TWO: and on another; -1: of the same ranks the other way round).
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {

/// Drawn alike by all ranks.
struct Draws {
  int n;
  std::mt19937 random{42};
  std::vector<std::vector<int>> matrix(int most) {
    std::vector<std::vector<int>> all(static_cast<std::size_t>(n),
                                      std::vector<int>(static_cast<std::size_t>(n)));
    for (auto& row : all)
      for (int& count : row) {
        const auto kind = static_cast<unsigned>(random() % 4);
        count = kind == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(kind == 1 ? 50 : most));
      }
    return all;
  }
};

struct Side {
  std::vector<int> counts, at;
  int total = 0;
  explicit Side(std::vector<int> given) : counts(std::move(given)), at(counts.size()) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      at[i] = total;
      total += counts[i];
    }
  }
};

int mark(int from, int to, int i) { return from * 1'000'000 + to * 10'000 + i % 10'000; }

std::vector<int> column(const std::vector<std::vector<int>>& matrix, int of) {
  std::vector<int> counts;
  for (const auto& row : matrix) counts.push_back(row[static_cast<std::size_t>(of)]);
  return counts;
}

bool is_wrong = false;
void require(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "wrong: %s\n", what);
  is_wrong = is_wrong || !holds;
}

void vectors(MPI_Comm comm, Draws& draws, int most) {
  int me = 0;
  MPI_Comm_rank(comm, &me);
  const auto matrix = draws.matrix(most);
  const Side out(matrix[static_cast<std::size_t>(me)]);
  const Side in(column(matrix, me));
  std::vector<int> data(static_cast<std::size_t>(out.total) + 1);
  std::vector<int> came(static_cast<std::size_t>(in.total) + 1, -1);
  for (std::size_t j = 0; j < out.counts.size(); ++j)
    for (int i = 0; i < out.counts[j]; ++i)
      data[static_cast<std::size_t>(out.at[j] + i)] = mark(me, static_cast<int>(j), i);
  MPI_Alltoallv(data.data(), out.counts.data(), out.at.data(), MPI_INT, came.data(), in.counts.data(),
                in.at.data(), MPI_INT, comm);
  for (std::size_t j = 0; j < in.counts.size(); ++j)
    for (int i = 0; i < in.counts[j]; ++i)
      require(came[static_cast<std::size_t>(in.at[j] + i)] == mark(static_cast<int>(j), me, i),
              "MPI_Alltoallv");
}

/// Symmetric counts, as in place asks for.
void in_place(MPI_Comm comm, Draws& draws, int most) {
  int me = 0;
  MPI_Comm_rank(comm, &me);
  auto matrix = draws.matrix(most);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) matrix[i][j] = matrix[j][i];
  const Side both(matrix[static_cast<std::size_t>(me)]);
  std::vector<int> data(static_cast<std::size_t>(both.total) + 1);
  for (std::size_t j = 0; j < both.counts.size(); ++j)
    for (int i = 0; i < both.counts[j]; ++i)
      data[static_cast<std::size_t>(both.at[j] + i)] = mark(me, static_cast<int>(j), i);
  MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, data.data(), both.counts.data(),
                both.at.data(), MPI_INT, comm);
  for (std::size_t j = 0; j < both.counts.size(); ++j)
    for (int i = 0; i < both.counts[j]; ++i)
      require(data[static_cast<std::size_t>(both.at[j] + i)] == mark(static_cast<int>(j), me, i), "in place");
}

/// Columns of a matrix at one end, plain numbers at the other, negative lower bounds, and a type without bytes.
void types(MPI_Comm comm, int rows) {
  int me = 0;
  int n = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  const auto ranks = static_cast<std::size_t>(n);
  MPI_Datatype strided;
  MPI_Datatype moved;
  MPI_Datatype empty;
  MPI_Type_vector(rows, 1, n, MPI_INT, &strided);
  MPI_Type_create_resized(strided, -8, 4, &moved);
  MPI_Type_contiguous(0, MPI_INT, &empty);
  for (MPI_Datatype* each : {&moved, &empty}) MPI_Type_commit(each);
  std::vector<int> matrix(static_cast<std::size_t>(rows) * ranks);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = mark(me, static_cast<int>(i % ranks), static_cast<int>(i / ranks));
  std::vector<int> came(matrix.size() + 1, -1);
  std::vector<int> counts(ranks, 1), in_counts(ranks, rows), out_at(ranks), in_at(ranks);
  std::vector<MPI_Datatype> out_types(ranks, moved), in_types(ranks, MPI_INT);
  for (std::size_t i = 0; i < ranks; ++i) {
    out_at[i] = static_cast<int>(4 * i);
    in_at[i] = static_cast<int>(4 * i) * rows;
  }
  out_types[static_cast<std::size_t>((me + 1) % n)] =
      empty;  // a count above 0 of nothing against a count of 0
  counts[static_cast<std::size_t>((me + 1) % n)] = 3;
  in_counts[static_cast<std::size_t>((me + n - 1) % n)] = 0;
  MPI_Alltoallw(matrix.data(), counts.data(), out_at.data(), out_types.data(), came.data(), in_counts.data(),
                in_at.data(), in_types.data(), comm);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < rows; ++i)
      require(came[static_cast<std::size_t>(j * rows + i)] == (j == (me + n - 1) % n ? -1 : mark(j, me, i)),
              "MPI_Alltoallw");
  for (MPI_Datatype* each : {&strided, &moved, &empty}) MPI_Type_free(each);
}

void blocks(MPI_Comm comm, int count) {
  int me = 0;
  int n = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  std::vector<int> data(static_cast<std::size_t>(n * count));
  std::vector<int> came(data.size(), -1);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < count; ++i) data[static_cast<std::size_t>(j * count + i)] = mark(me, j, i);
  MPI_Alltoall(data.data(), count, MPI_INT, came.data(), count, MPI_INT, comm);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), count, MPI_INT, comm);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < count; ++i) {
      require(came[static_cast<std::size_t>(j * count + i)] == mark(j, me, i), "MPI_Alltoall");
      require(data[static_cast<std::size_t>(j * count + i)] == mark(j, me, i), "MPI_Alltoall in place");
    }
}

/// Bytes from place `from` of rank `src` to place `to`: every block has its own.
int block_mark(int src, int place, int i) { return src * 1'000'000 + place * 100'000 + i % 100'000; }

/// What neighbours receive at place i: from whom, and from which of the sender's places.
struct Origin {
  int rank;
  int place;
};

/// All three calls on a communicator with as many places out and in, whose blocks differ in length.
void neighbours(MPI_Comm comm, int num_out, const std::vector<Origin>& origins, int most) {
  int me = 0;
  MPI_Comm_rank(comm, &me);
  const auto length = [most](int src, int place) {
    return (src * 7 + place * 13) % 5 == 0 ? 0 : most + 31 * src + place;
  };
  std::vector<int> out_counts, in_counts;
  for (int i = 0; i < num_out; ++i) out_counts.push_back(length(me, i));
  for (const auto& [rank, place] : origins) in_counts.push_back(rank < 0 ? 0 : length(rank, place));
  const Side out(out_counts);
  const Side in(in_counts);
  std::vector<int> data(static_cast<std::size_t>(out.total) + 1);
  for (std::size_t j = 0; j < out.counts.size(); ++j)
    for (int i = 0; i < out.counts[j]; ++i)
      data[static_cast<std::size_t>(out.at[j] + i)] = block_mark(me, static_cast<int>(j), i);
  const auto require_right = [&](const std::vector<int>& came, const char* what) {
    for (std::size_t j = 0; j < in.counts.size(); ++j)
      for (int i = 0; i < in.counts[j]; ++i)
        require(
            came[static_cast<std::size_t>(in.at[j] + i)] == block_mark(origins[j].rank, origins[j].place, i),
            what);
  };
  std::vector<int> came(static_cast<std::size_t>(in.total) + 1, -1);
  MPI_Neighbor_alltoallv(data.data(), out.counts.data(), out.at.data(), MPI_INT, came.data(),
                         in.counts.data(), in.at.data(), MPI_INT, comm);
  require_right(came, "MPI_Neighbor_alltoallv");

  const auto bytes = [](const std::vector<int>& places) {
    std::vector<MPI_Aint> all;
    for (const int place : places) all.push_back(MPI_Aint{4} * place);
    return all;
  };
  const std::vector<MPI_Aint> out_at = bytes(out.at), in_at = bytes(in.at);
  const std::vector<MPI_Datatype> out_types(out.at.size() + 1, MPI_INT), in_types(in.at.size() + 1, MPI_INT);
  std::fill(came.begin(), came.end(), -1);
  MPI_Neighbor_alltoallw(data.data(), out.counts.data(), out_at.data(), out_types.data(), came.data(),
                         in.counts.data(), in_at.data(), in_types.data(), comm);
  require_right(came, "MPI_Neighbor_alltoallw");

  std::vector<int> blocks(static_cast<std::size_t>(num_out * most) + 1);
  for (int j = 0; j < num_out; ++j)
    for (int i = 0; i < most; ++i) blocks[static_cast<std::size_t>(j * most + i)] = block_mark(me, j, i);
  std::vector<int> got(origins.size() * static_cast<std::size_t>(most) + 1, -1);
  MPI_Neighbor_alltoall(blocks.data(), most, MPI_INT, got.data(), most, MPI_INT, comm);
  for (std::size_t j = 0; j < origins.size(); ++j)
    for (std::size_t i = 0; i < static_cast<std::size_t>(most); ++i) {
      const int expected =
          origins[j].rank < 0 ? -1 : block_mark(origins[j].rank, origins[j].place, static_cast<int>(i));
      require(got[j * static_cast<std::size_t>(most) + i] == expected, "MPI_Neighbor_alltoall");
    }
}

/// What leaves towards one side comes from the other, also where both sides are the same rank, or this one.
struct Grid {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Origin> origins;

  Grid(int columns, int is_periodic) {
    int n = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    const int sizes[] = {n / columns, columns};
    const int periods[] = {is_periodic != 0 && sizes[0] > 2, columns > 2};  // others are MPI's
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &comm);
    for (int d = 0; d < 2 && comm != MPI_COMM_NULL; ++d) {
      int before = 0;
      int after = 0;
      MPI_Cart_shift(comm, d, 1, &before, &after);
      origins.push_back({before, 2 * d + 1});
      origins.push_back({after, 2 * d});
    }
  }
  void exchange(int most) const {
    if (comm != MPI_COMM_NULL) neighbours(comm, 4, origins, most);
  }
};

void grid(int columns, int is_periodic, int most) {
  Grid one(columns, is_periodic);
  one.exchange(most);
  if (one.comm != MPI_COMM_NULL) MPI_Comm_free(&one.comm);
}

/// Everybody to the next, twice, and to rank 0, which sends to nobody; the last has nobody at all where there are more than three.
void graph(int most) {
  int me = 0;
  int n = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const int used = n > 3 ? n - 1 : n;
  const auto targets = [&](int rank) {
    return rank == 0 || rank >= used ? std::vector<int>()
                                     : std::vector<int>{(rank + 1) % used, 0, (rank + 1) % used};
  };
  const std::vector<int> to = targets(me);
  std::vector<int> from;
  std::vector<Origin> origins;
  for (int rank = 0; rank < n; ++rank) {
    const std::vector<int> all = targets(rank);
    for (int place = 0; place < static_cast<int>(all.size()); ++place)
      if (all[static_cast<std::size_t>(place)] == me) {
        from.push_back(rank);
        origins.push_back({rank, place});
      }
  }
  const std::vector<int> ones(static_cast<std::size_t>(3 * n), 1);
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(), ones.data(),
                                 static_cast<int>(to.size()), to.data(), ones.data(), MPI_INFO_NULL, 0,
                                 &comm);
  if (!to.empty() || !from.empty())
    neighbours(comm, static_cast<int>(to.size()), origins, most);  // the last stays away
  MPI_Comm_free(&comm);
}

/// Calls of all kinds in any order, over some twenty communicators that live all the time.
void soak(int rounds) {
  int me = 0;
  int n = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  std::vector<MPI_Comm> comms(16);
  for (int i = 0; i < 16; ++i)  // whole or in parts, in several orders
    MPI_Comm_split(MPI_COMM_WORLD, i % 4 == 0 ? 0 : me % (1 + i % 4), i % 2 == 0 ? me : -me,
                   &comms[static_cast<std::size_t>(i)]);
  const std::vector<Grid> grids = {{1, 1}, {1, 0}, {n > 1 ? 2 : 1, 1}, {n > 1 ? 2 : 1, 0}};
  std::mt19937 random(7);
  for (int round = 0; round < rounds && !is_wrong; ++round) {
    const auto which = static_cast<unsigned>(random() % 20);
    const int most = random() % 8 == 0 ? 9000 : 1 + static_cast<int>(random() % 600);
    const auto kind = static_cast<unsigned>(random() % 4);
    if (which >= 16) {
      grids[which - 16].exchange(most);
      continue;
    }
    const MPI_Comm comm = comms[which];
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    Draws draws{ranks, std::mt19937(static_cast<unsigned>(round))};
    if (kind == 0) vectors(comm, draws, most);
    if (kind == 1) in_place(comm, draws, most);
    if (kind == 2) types(comm, most);
    if (kind == 3) blocks(comm, most);
  }
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void turns(int calls) {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  Draws draws{n};
  const int most = std::getenv("SHORT") != nullptr ? 300 : std::getenv("LARGE") != nullptr ? 120'000 : 9000;
  for (int call = 0; call < calls; ++call) vectors(MPI_COMM_WORLD, draws, most);
  if (std::getenv("TWO") == nullptr) return;
  MPI_Comm other = MPI_COMM_NULL;
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_split(MPI_COMM_WORLD, 0, std::atoi(std::getenv("TWO")) * me, &other);
  for (int call = 0; call < calls; ++call) vectors(other, draws, most);
  MPI_Comm_free(&other);
}

/// On the third communicator with a ring of neighbours.
void third_ring(int calls) {
  int n = 0;
  int me = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  const int before = (me + n - 1) % n;
  const int after = (me + 1) % n;
  MPI_Comm rings[3];
  for (MPI_Comm& ring : rings)
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &after, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
  Draws draws{n};
  for (int call = 0; call < calls; ++call) vectors(rings[2], draws, 9000);
  for (int call = 0; call < calls; ++call) {
    const std::vector<int> data(50'000, me * calls + call);
    std::vector<int> came(data.size(), -1);
    MPI_Neighbor_alltoall(data.data(), 50'000, MPI_INT, came.data(), 50'000, MPI_INT, rings[2]);
    require(came == std::vector<int>(came.size(), before * calls + call), "MPI_Neighbor_alltoall");
  }
  for (MPI_Comm& ring : rings) MPI_Comm_free(&ring);
}

/// Both ends of one message have other counts: an error, as MPI has it.
void mismatch(int me, int n) {
  std::vector<int> counts(static_cast<std::size_t>(n)), at(counts), in(counts);
  std::vector<char> data(100'000), came(100'000);
  if (me == 0) counts[1] = 90'000;
  if (me == 1) in[0] = 70'000;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Alltoallv(data.data(), counts.data(), at.data(), MPI_CHAR, came.data(), in.data(),
                                 at.data(), MPI_CHAR, MPI_COMM_WORLD);
  if (me == 0) std::printf("code %d\n", code == MPI_SUCCESS ? 0 : 1);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me = 0;
  int n = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (argc > 2 && std::strcmp(argv[2], "mismatch") == 0) mismatch(me, n);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  const auto is = [&](const char* name) { return argc > 2 && std::strcmp(argv[2], name) == 0; };
  if (is("soak")) soak(rounds);
  if (is("turns")) turns(rounds);
  if (is("ring")) third_ring(rounds);
  for (int round = 0; round < rounds && argc < 3; ++round) {
    MPI_Comm part = MPI_COMM_WORLD;  // communicators come and go
    if (round % 3 == 1) MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &part);
    if (round % 3 == 2) MPI_Comm_dup(MPI_COMM_WORLD, &part);
    int ranks = 0;
    MPI_Comm_size(part, &ranks);
    Draws draws{ranks, std::mt19937(static_cast<unsigned>(round))};
    for (int i = 0; i < 6; ++i) {
      vectors(part, draws, i % 2 == 0 ? 9000 : 300);
      in_place(part, draws, 3000);
      types(part, 700 + i);
      blocks(part, i == 0 ? 20 : 2000);
    }
    if (part != MPI_COMM_WORLD) MPI_Comm_free(&part);
    for (const int most : {20, 3000}) {
      grid(1, 1, most);
      if (n >= 2) grid(2, 0, most);
      graph(most);
    }
  }
  if (!is_wrong && me == 0) std::puts("all right");
  MPI_Finalize();
  return is_wrong ? 1 : 0;
}
