// SPDX-License-Identifier: BSD-3-Clause
// Active messages in one program: breadth-first search on a graph that is spread over the
// ranks, where a message marks a vertex at its owner and makes that rank visit its neighbours,
// until nothing is left to do anywhere.
//
//   mpiexec -n 4 active_messages        # prints the same line for any number of ranks
//
// The graph: vertices 0 .. n-1, and from each vertex v arcs to 2v+1 and 3v+2 (mod
// n). Vertex v lives on rank v mod size.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <nuice/am/coalescer.hpp>
#include <nuice/mpi/am.hpp>

namespace {

namespace am = nuice::am;

constexpr std::uint64_t num_vertices = 200'000;

struct Visit {
  std::uint64_t vertex;
  std::uint32_t distance;
};

void search() {
  am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD));  // shared memory within a host, MPI between hosts
  const auto size = static_cast<std::uint64_t>(ep.num_ranks());
  const auto owner = [&](std::uint64_t vertex) { return static_cast<nuice::Rank>(vertex % size); };
  std::vector<std::uint32_t> distance(num_vertices / size + 1, UINT32_MAX);

  // The handler runs at the owner. It may send, so the search spreads by itself;
  // a shorter way that comes later wins.
  am::Coalescer<Visit>* visits = nullptr;
  const auto visit = ep.on<Visit>("visit", [&](am::Context&, const Visit& v) {
    std::uint32_t& known = distance[v.vertex / size];
    if (known <= v.distance) return;
    known = v.distance;
    for (const std::uint64_t next : {(2 * v.vertex + 1) % num_vertices, (3 * v.vertex + 2) % num_vertices})
      visits->push(owner(next), Visit{next, v.distance + 1});
  });
  const auto report = ep.on_call<am::Nothing, std::uint32_t>("report", [&](am::Context&, const am::Nothing&) {
    std::uint32_t farthest = 0;
    for (const std::uint32_t d : distance)
      if (d != UINT32_MAX) farthest = std::max(farthest, d);
    return farthest;
  });
  ep.seal();

  am::Coalescer<Visit> coalescer(ep, visit, {.buffer_bytes = 4096});
  visits = &coalescer;
  if (ep.rank() == 0) coalescer.push(owner(1), Visit{1, 0});
  ep.quiesce();  // every message handled, and all that it led to

  if (ep.rank() == 0) {
    std::vector<am::Future<std::uint32_t>> answers;
    for (nuice::Rank rank = 0; rank < ep.num_ranks(); ++rank) answers.push_back(ep.call(rank, report, {}));
    std::uint32_t farthest = 0;
    for (auto& answer : answers) farthest = std::max(farthest, answer.get());
    std::printf("the farthest vertex from 1 is %u arcs away\n", farthest);
  }
  ep.quiesce();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  search();
  MPI_Finalize();
}
