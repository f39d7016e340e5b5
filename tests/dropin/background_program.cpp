// SPDX-License-Identifier: BSD-3-Clause
// A program that knows nothing of NUICE: all-to-alls that go on in the background, nonblocking and persistent, among blocking ones and other
// requests, completed in every way and in another order on each rank (background_test.py). Prints "all right" if every byte is where it belongs.
//
// usage: background_program soak CALLS [SEED] | asked CALLS NUMBERS | init CALLS NUMBERS | progress | free | cancel | mismatch | late WHERE | threads
//   | tried PATTERN HOW CALLS NUMBERS | apart CALLS
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "background_exchange.hpp"
#include "background_soak.hpp"
#include "background_tried.hpp"

namespace background {
namespace {

/// Calls of one communicator and nothing that is replaced else, each with so many numbers for everybody.
void asked(int calls, int most, bool is_persistent) {
  const Pattern everybody = all_of(MPI_COMM_WORLD);
  Exchange one(everybody, Exchange::Form::v, 2, most);
  MPI_Request request = MPI_REQUEST_NULL;
  if (is_persistent) one.init(&request);
  for (int call = 0; call < calls; ++call) {
    if (is_persistent) {
      one.fill();
      MPI_Start(&request);
    } else {
      one.begin(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    one.check();
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(sum == everybody.num_out, "MPI_Allreduce");
  }
  if (is_persistent) MPI_Request_free(&request);
}

/// Rank 0 begins and then blocks in something that the others come to only when they have waited: MPI's own nonblocking collectives end.
void progress() {
  const int me = rank_in(MPI_COMM_WORLD);
  const int n = size_of(MPI_COMM_WORLD);
  const Pattern everybody = all_of(MPI_COMM_WORLD);
  const Pattern row = grid_of(1);
  const Pattern graph = graph_of(MPI_COMM_WORLD);
  Exchange(everybody, Exchange::Form::v, 1, 50'000).run();
  int number = 0;
  int other = 0;
  std::vector<int> long_one(200'000), came(long_one);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(&number, sizeof number, sizeof number, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const std::map<std::string, std::function<void()>> calls = {
      {"Recv",
       [&] {
         if (me == 0) MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         if (me == 1) MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
       }},
      {"Ssend",
       [&] {
         if (me == 0) MPI_Ssend(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
         if (me == 1) MPI_Recv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
       }},
      {"Send of a long one",
       [&] {
         if (me == 0) MPI_Send(long_one.data(), 200'000, MPI_INT, 1, 5, MPI_COMM_WORLD);
         if (me == 1) MPI_Recv(came.data(), 200'000, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
       }},
      {"Sendrecv",
       [&] {
         if (me < 2)
           MPI_Sendrecv(&number, 1, MPI_INT, 1 - me, 5, &other, 1, MPI_INT, 1 - me, 5, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE);
       }},
      {"Probe",
       [&] {
         if (me == 0) MPI_Probe(1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         if (me == 0) MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         if (me == 1) MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
       }},
      {"Iprobe",
       [&] {
         int flag = 0;
         while (me == 0 && flag == 0) MPI_Iprobe(1, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
         if (me == 0) MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         if (me == 1) MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
       }},
      {"Wait for another",
       [&] {
         MPI_Request request = MPI_REQUEST_NULL;
         if (me == 0) MPI_Irecv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
         if (me == 1) MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
         MPI_Wait(&request, MPI_STATUS_IGNORE);
       }},
      {"Barrier", [&] { MPI_Barrier(MPI_COMM_WORLD); }},
      {"Bcast", [&] { MPI_Bcast(&number, 1, MPI_INT, n - 1, MPI_COMM_WORLD); }},
      {"Allreduce", [&] { MPI_Allreduce(&number, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }},
      {"Neighbor_allgather",
       [&] {
         std::vector<int> four(4);
         MPI_Neighbor_allgather(&number, 1, MPI_INT, four.data(), 1, MPI_INT, row.comm);
       }},
      {"Alltoallv", [&] { Exchange(everybody, Exchange::Form::v, 3, 20'000).run(); }},
      {"Neighbor_alltoallv", [&] { Exchange(graph, Exchange::Form::v, 3, 20'000).run(); }},
      {"Comm_split",
       [&] {
         MPI_Comm made = MPI_COMM_NULL;
         MPI_Comm_split(MPI_COMM_WORLD, 0, me, &made);
         MPI_Comm_free(&made);
       }},
      {"Cart_create",
       [&] {
         Pattern made = grid_of(1);
         MPI_Comm_free(&made.comm);
       }},
      {"Win_fence", [&] { MPI_Win_fence(0, window); }},
  };
  for (const auto& [name, call] : calls)
    for (const Pattern* const pattern : {&everybody, &row, &graph}) {
      if (me == 0 && std::getenv("TELLS") != nullptr) std::fprintf(stderr, "%s\n", name.c_str());
      Exchange one(*pattern, Exchange::Form::v, 2, 60'000);
      Exchange two(*pattern, Exchange::Form::w, 3, 30'000);
      MPI_Request requests[2];
      one.begin(&requests[0]);
      two.begin(&requests[1]);
      if (me == 0) call();
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      if (me != 0) call();
      one.check();
      two.check();
    }
  MPI_Win_free(&window);
}

/// A request that nobody waits for: the others have what is sent, and MPI_Finalize brings the rest. Only persistent ones may be freed.
void freed() {
  static const Pattern graph = graph_of(MPI_COMM_WORLD);
  static Exchange& one = *new Exchange(graph, Exchange::Form::v, 2, 60'000);
  static Exchange& two = *new Exchange(graph, Exchange::Form::v, 4, 60'000);
  static Exchange& three = *new Exchange(graph, Exchange::Form::v, 4, 100);
  MPI_Request requests[3];
  one.begin(&requests[0]);
  two.init(&requests[1]);
  two.fill();
  MPI_Start(&requests[1]);
  three.begin(&requests[2]);
  if (rank_in(MPI_COMM_WORLD) == 0) MPI_Request_free(&requests[1]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  if (rank_in(MPI_COMM_WORLD) != 0) MPI_Request_free(&requests[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) != 0) {
    one.check();
    two.check();
  }
  three.check();
}

/// MPI allows it for no collective.
void cancelled() {
  const Pattern graph = graph_of(MPI_COMM_WORLD);
  Exchange one(graph, Exchange::Form::v, 2, 60'000);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  one.begin(&request);
  require(MPI_Cancel(&request) != MPI_SUCCESS, "an error");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  one.check();
}

/// Rank 0 does, when mpiexec has had time to pass on what it says.
void end_all(int me) {
  std::fflush(stdout);
  if (me != 0) sleep(30);
  usleep(200'000);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/// Both ends of one message have other counts: MPI_Waitall says so.
void mismatch() {
  const Pattern row = grid_of(1);
  const int me = rank_in(row.comm);
  const std::vector<int> at(4);
  std::vector<int> out(4), in(4);
  std::vector<char> data(100'000), came(100'000);
  if (me == 0) out[1] = 90'000;
  if (me == 1) in[0] = 70'000;
  MPI_Comm_set_errhandler(row.comm, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Ineighbor_alltoallv(data.data(), out.data(), at.data(), MPI_CHAR, came.data(), in.data(), at.data(),
                          MPI_CHAR, row.comm, &request);
  const int code = MPI_Waitall(1, &request, &status);
  if (me == 0) std::printf("code %d %d\n", code == MPI_ERR_IN_STATUS, status.MPI_ERROR == MPI_ERR_TRUNCATE);
  end_all(me);
}

/// The last rank never comes, to an exchange that others wait for, or in whose communicator's end or MPI's they are.
void late(const std::string& where) {
  Pattern row = grid_of(1);
  Exchange one(row, Exchange::Form::v, 2, 60'000);
  MPI_Request request = MPI_REQUEST_NULL;
  for (const MPI_Comm comm : {MPI_COMM_WORLD, row.comm}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int me = rank_in(row.comm);
  if (me + 1 == size_of(row.comm)) sleep(where == "finalize" ? 3 : 30);
  one.begin(&request);
  if (where == "free") MPI_Comm_free(&row.comm);
  const int code = where == "finalize" ? MPI_Finalize() : MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (me == 0) std::printf("code %d\n", code == MPI_SUCCESS ? 0 : 1);
  if (where != "finalize") end_all(me);
  std::exit(0);
}

/// Another thread is in MPI_Recv before this one begins and waits for it.
void threads() {
  const Pattern row = grid_of(1);
  const int me = rank_in(row.comm);
  for (int round = 0; round < 20; ++round) {
    Exchange one(row, Exchange::Form::v, 2, 60'000);
    MPI_Request request = MPI_REQUEST_NULL;
    int number = 0;
    std::thread other([&] {
      if (me == 0) MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    if (round % 2 == 0) usleep(1000);
    one.begin(&request);
    if (me == 0) other.join();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    if (me != 0) other.join();
    one.check();
  }
}

}  // namespace
}  // namespace background

int main(int argc, char** argv) {
  using namespace background;
  const std::string mode = argc > 1 ? argv[1] : "";
  int provided = 0;
  MPI_Init_thread(&argc, &argv, mode == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  const int me = rank_in(MPI_COMM_WORLD);
  if (mode == "soak") {
    Soak soak(argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1U);
    for (int round = 0; round < std::atoi(argv[2]) && !is_wrong; ++round)
      soak.act(static_cast<unsigned>(round));
  }
  if (mode == "asked" || mode == "init") asked(std::atoi(argv[2]), std::atoi(argv[3]), mode == "init");
  if (mode == "tried") tried(argv[2], argv[3], std::atoi(argv[4]), std::atoi(argv[5]));
  if (mode == "apart") tried_apart(std::atoi(argv[2]));
  if (mode == "progress") progress();
  if (mode == "free") freed();
  if (mode == "cancel") cancelled();
  if (mode == "mismatch") mismatch();
  if (mode == "late") late(argv[2]);
  if (mode == "threads" && provided == MPI_THREAD_MULTIPLE) threads();
  int any_wrong = is_wrong ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (any_wrong == 0 && me == 0) std::puts("all right");
  MPI_Finalize();
  return any_wrong;
}
