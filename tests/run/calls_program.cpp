// SPDX-License-Identifier: BSD-3-Clause
// A program that knows nothing of NUICE and calls what the recorder watches, each with
// bytes of its own; record_test.py knows them. Every rank sends to its right neighbour and,
// where all ranks take part, to rank 0 too.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int times = 3;

struct World {
  int rank = 0;
  int ranks = 0;
  int right = 0;
  int left = 0;
  std::vector<char> out = std::vector<char>(1 << 16);
  std::vector<char> in = std::vector<char>(1 << 16);
};

struct Counts {
  std::vector<int> send, receive, send_at, receive_at;
  /// `bytes` to the right, twice that to rank 0, nothing else.
  Counts(const World& world, int bytes)
      : send(static_cast<std::size_t>(world.ranks)), receive(send), send_at(send), receive_at(send) {
    send[static_cast<std::size_t>(world.right)] += bytes;
    send[0] += 2 * bytes;
    receive[static_cast<std::size_t>(world.left)] += bytes;
    if (world.rank == 0)
      for (int& count : receive) count += 2 * bytes;
    for (std::size_t i = 1; i < send.size(); ++i) {
      send_at[i] = send_at[i - 1] + send[i - 1];
      receive_at[i] = receive_at[i - 1] + receive[i - 1];
    }
  }
};

void collectives(World& w) {
  const Counts a(w, 8);
  const Counts b(w, 16);
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(w.ranks), MPI_CHAR);
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < times; ++i)
    MPI_Alltoallv(w.out.data(), a.send.data(), a.send_at.data(), MPI_CHAR, w.in.data(), a.receive.data(),
                  a.receive_at.data(), MPI_CHAR, MPI_COMM_WORLD);
  MPI_Alltoallw(w.out.data(), b.send.data(), b.send_at.data(), types.data(), w.in.data(), b.receive.data(),
                b.receive_at.data(), types.data(), MPI_COMM_WORLD);
  MPI_Alltoall(w.out.data(), 3, MPI_INT, w.in.data(), 3, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, w.in.data(), 5, MPI_INT, MPI_COMM_WORLD);
  MPI_Ialltoallv(w.out.data(), b.send.data(), b.send_at.data(), MPI_CHAR, w.in.data(), b.receive.data(),
                 b.receive_at.data(), MPI_CHAR, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void neighbours(World& w) {
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &w.left, MPI_UNWEIGHTED, 1, &w.right, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  const int count = 7;
  const int at = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Neighbor_alltoallv(w.out.data(), &count, &at, MPI_INT, w.in.data(), &count, &at, MPI_INT, ring);
  MPI_Ineighbor_alltoall(w.out.data(), 9, MPI_CHAR, w.in.data(), 9, MPI_CHAR, ring, &request);
  MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&ring);
}

void transfers(World& w) {
  for (int i = 0; i < times; ++i) {
    MPI_Request both[2];
    MPI_Irecv(w.in.data(), 100, MPI_DOUBLE, w.left, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(w.out.data(), 100, MPI_DOUBLE, w.right, 0, MPI_COMM_WORLD, &both[1]);
    for (int done = 0; done < 2; ++done) {
      int which = 0;
      MPI_Waitany(2, both, &which, MPI_STATUS_IGNORE);
    }
  }
  MPI_Request kept[2];
  MPI_Recv_init(w.in.data(), 200, MPI_CHAR, w.left, 1, MPI_COMM_WORLD, &kept[0]);
  MPI_Send_init(w.out.data(), 200, MPI_CHAR, w.right, 1, MPI_COMM_WORLD, &kept[1]);
  for (int i = 0; i < times; ++i) {
    MPI_Startall(2, kept);
    int done = 0;
    while (done == 0) MPI_Testall(2, kept, &done, MPI_STATUSES_IGNORE);
  }
  for (MPI_Request& request : kept) MPI_Request_free(&request);
  MPI_Request expected = MPI_REQUEST_NULL;  // as HPCG does it
  MPI_Irecv(w.in.data(), 300, MPI_CHAR, w.left, 2, MPI_COMM_WORLD, &expected);
  MPI_Send(w.out.data(), 300, MPI_CHAR, w.right, 2, MPI_COMM_WORLD);
  MPI_Wait(&expected, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  world.right = (world.rank + 1) % world.ranks;
  world.left = (world.rank + world.ranks - 1) % world.ranks;
  collectives(world);
  neighbours(world);
  transfers(world);
  if (argc > 1 && std::strcmp(argv[1], "exit") == 0) std::exit(0);  // without MPI_Finalize
  MPI_Finalize();
  return 0;
}
