// SPDX-License-Identifier: BSD-3-Clause
// Calls of one communicator among collective calls of all ranks, in which an interposer may find out who is faster.
#pragma once

#include <mpi.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "background_exchange.hpp"

namespace background {

inline Pattern pattern_named(const std::string& name) {
  if (name == "graph") return graph_of(MPI_COMM_WORLD);
  if (name == "grid") return grid_of(2);  // some ranks may be none of it
  return all_of(MPI_COMM_WORLD);
}

/// Each with so many numbers for everybody. how: "wait" or "block", MPI_Allreduce behind each.
inline void tried(const std::string& name, const std::string& how, int calls, int most) {
  const Pattern pattern = pattern_named(name);
  for (int call = 0; call < calls; ++call) {
    if (is_there(pattern)) {
      Exchange one(pattern, Exchange::Form::v, 2, most);
      MPI_Request request = MPI_REQUEST_NULL;
      if (how == "block") {
        one.run();
      } else {
        one.begin(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        one.check();
      }
    }
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

/// Several calls of two communicators under way at once, blocking ones and persistent ones among them, and ranks that
/// come to a collective call before or after calls that others have begun there, and block elsewhere meanwhile.
inline void tried_apart(int calls) {
  const int me = rank_in(MPI_COMM_WORLD);
  const int n = size_of(MPI_COMM_WORLD);
  struct Begun {
    std::unique_ptr<Exchange> exchange;
    MPI_Request request;
  };
  MPI_Comm same = MPI_COMM_NULL;  // as its calls and MPI_COMM_WORLD's need not be in one order
  MPI_Comm_dup(MPI_COMM_WORLD, &same);
  const Pattern patterns[] = {graph_of(MPI_COMM_WORLD), all_of(same), grid_of(2)};
  std::deque<Begun> begun;
  const auto complete_all_but = [&](std::size_t left) {
    for (; begun.size() > left; begun.pop_front()) {
      MPI_Wait(&begun.front().request, MPI_STATUS_IGNORE);
      begun.front().exchange->check();
    }
  };
  const auto begin = [&](int call) {
    for (const Pattern& each : patterns) {
      if (!is_there(each)) continue;
      auto made = std::make_unique<Exchange>(each, Exchange::Form::v, static_cast<unsigned>(call), 2000);
      if (call % 7 == 3) {
        made->run();
        continue;
      }
      MPI_Request request = MPI_REQUEST_NULL;
      if (call % 7 == 5 && each.are_neighbours) {
        made->init(&request);
        made->fill();
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        made->check();
        MPI_Request_free(&request);
        continue;
      }
      made->begin(&request);
      begun.push_back({std::move(made), request});
    }
  };
  const auto collect = [&] {
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(sum == n, "MPI_Allreduce");
  };
  // Some begin all calls of a step before its collective call, others but the first ones: blocking calls stay on one side of it.
  constexpr int step = 7;
  for (int first = 0; first < calls; first += step) {
    const int before = first + 4 + me % 2;
    MPI_Barrier(same);
    for (int call = first; call < before; ++call) begin(call);
    if (me == 0) MPI_Ssend(&n, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    int got = 0;
    if (me == 1) MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    collect();
    for (int call = before; call < first + step; ++call) begin(call);
    complete_all_but(static_cast<std::size_t>(3 * (me % 4)));
  }
  complete_all_but(0);
}

}  // namespace background
