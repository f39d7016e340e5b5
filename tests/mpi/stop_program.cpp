// SPDX-License-Identifier: BSD-3-Clause
// A rank that is stopped (SIGSTOP) just before any one of its calls of MPI, from the first plan to the last
// exchange that is freed. stop_test.py runs it.
//
//   stop_program HOW/SETUP/POINT/WATCHDOG_S ...    four ranks for each case, apart from the others'
//
//   HOW    freeze   rank 1 is stopped for good: all others must have an Error in time
//          pause    for a second: all must come to their end, every byte right
//   SETUP  what is planned and bound, a row of the table in support/faults.hpp
//   POINT  counts rank 1's calls from its first plan on; of those that only look whether something has come,
//          the first after each other call counts. 0: it is stopped nowhere, and says how many there are
//
// Prints lines "case C rank R T WHAT", T in seconds of the host's clock; WHAT: "stops before
// CALL", "done, N points" or "code: text".
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/mpi/exchanger.hpp"
#include "nuice/mpi/plan.hpp"
#include "support/faults.hpp"

namespace {

namespace test = nuice::test;

constexpr int num_cycles = 2;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Where this process is stopped.
struct Stop {
  std::string me;  // "case C rank R"
  bool is_for_good = false;
  int at = 0;      // 0: nowhere
  int points = 0;  // passed
  bool counts = false;
  bool has_polled = false;

  void say(const std::string& text) const {
    std::printf("%s %.4f %s\n", me.c_str(), now_s(), text.c_str());
    std::fflush(stdout);
  }
  void reach(const char* call, bool is_poll = false) {
    if (!counts || (is_poll && has_polled)) return;
    has_polled = is_poll;
    if (++points != at) return;
    say(std::string("stops before ") + call);
    is_for_good ? test::freeze() : test::stop_until(SIGCONT, 1);
  }
} stop;

}  // namespace

// Calls of the library that depend on other ranks, or may.
#define NUICE_CALL(name, parameters, arguments) \
  extern "C" int name parameters {              \
    stop.reach(#name);                          \
    return P##name arguments;                   \
  }
#define NUICE_POLL(name, parameters, arguments) \
  extern "C" int name parameters {              \
    stop.reach(#name, true);                    \
    return P##name arguments;                   \
  }
NUICE_CALL(MPI_Comm_dup, (MPI_Comm c, MPI_Comm* n), (c, n))
NUICE_CALL(MPI_Comm_idup, (MPI_Comm c, MPI_Comm* n, MPI_Request* r), (c, n, r))
NUICE_CALL(MPI_Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* n), (c, color, key, n))
NUICE_CALL(MPI_Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm* n),
           (c, type, key, i, n))
NUICE_CALL(MPI_Comm_free, (MPI_Comm * c), (c))
NUICE_CALL(MPI_Barrier, (MPI_Comm c), (c))
NUICE_CALL(MPI_Bcast, (void* a, int n, MPI_Datatype t, int root, MPI_Comm c), (a, n, t, root, c))
NUICE_CALL(MPI_Allreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
           (a, b, n, t, o, c))
NUICE_CALL(MPI_Allgather, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
           (a, n, t, b, m, u, c))
NUICE_CALL(MPI_Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r))
NUICE_CALL(MPI_Ibcast, (void* a, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r),
           (a, n, t, root, c, r))
NUICE_CALL(MPI_Iallreduce,
           (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r),
           (a, b, n, t, o, c, r))
NUICE_CALL(MPI_Ireduce_scatter_block,
           (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r),
           (a, b, n, t, o, c, r))
NUICE_CALL(MPI_Iallgather,
           (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c, MPI_Request* r),
           (a, n, t, b, m, u, c, r))
NUICE_CALL(MPI_Iallgatherv,
           (const void* a, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u,
            MPI_Comm c, MPI_Request* r),
           (a, n, t, b, m, d, u, c, r))
NUICE_CALL(MPI_Igather,
           (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c,
            MPI_Request* r),
           (a, n, t, b, m, u, root, c, r))
NUICE_CALL(MPI_Igatherv,
           (const void* a, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u,
            int root, MPI_Comm c, MPI_Request* r),
           (a, n, t, b, m, d, u, root, c, r))
NUICE_CALL(MPI_Isend, (const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
           (a, n, t, to, tag, c, r))
NUICE_CALL(MPI_Issend, (const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
           (a, n, t, to, tag, c, r))
NUICE_CALL(MPI_Irecv, (void* a, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
           (a, n, t, from, tag, c, r))
NUICE_CALL(MPI_Recv, (void* a, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s),
           (a, n, t, from, tag, c, s))
NUICE_CALL(MPI_Start, (MPI_Request * r), (r))
NUICE_CALL(MPI_Startall, (int n, MPI_Request* r), (n, r))
NUICE_CALL(MPI_Request_free, (MPI_Request * r), (r))
NUICE_CALL(MPI_Cancel, (MPI_Request * r), (r))
NUICE_POLL(MPI_Test, (MPI_Request * r, int* f, MPI_Status* s), (r, f, s))
NUICE_POLL(MPI_Testall, (int n, MPI_Request* r, int* f, MPI_Status* s), (n, r, f, s))
NUICE_POLL(MPI_Testsome, (int n, MPI_Request* r, int* m, int* i, MPI_Status* s), (n, r, m, i, s))
NUICE_POLL(MPI_Testany, (int n, MPI_Request* r, int* i, int* f, MPI_Status* s), (n, r, i, f, s))
NUICE_POLL(MPI_Iprobe, (int from, int tag, MPI_Comm c, int* f, MPI_Status* s), (from, tag, c, f, s))
#undef NUICE_CALL
#undef NUICE_POLL

namespace {

void exchange_by_plan(MPI_Comm comm, test::FaultMemory& memory, const nuice::mpi::PlanOptions& options) {
  nuice::mpi::Plan plan(comm, memory.to, options);
  nuice::mpi::Exchange exchange = plan.bind(memory.send, memory.receive);
  for (int again = 0; again < 2; ++again) {
    exchange.start();
    exchange.wait();
    memory.take();
  }
}

void exchange_without(MPI_Comm comm, test::FaultMemory& memory, double watchdog_s) {
  nuice::mpi::Exchanger exchanger(comm, {.watchdog_s = watchdog_s});
  for (int again = 0; again < 2; ++again) {
    std::vector<nuice::mpi::Outgoing> sends;
    std::vector<nuice::mpi::Incoming> receives;
    for (std::size_t i = 0; i < memory.to.size(); ++i) {
      sends.push_back({memory.to[i].rank, memory.out[i].data(), test::fault_bytes, MPI_BYTE});
      receives.push_back({memory.from[i].rank, memory.in[i].data(), test::fault_bytes, MPI_BYTE});
    }
    exchanger.exchange(sends, receives);
    memory.take();
  }
}

void run(const test::FaultCase& what, const std::string& setup, double watchdog_s) {
  test::FaultMemory memory(what.rank, false);
  nuice::mpi::PlanOptions options = test::fault_setups.at(setup);
  options.watchdog_s = watchdog_s;
  stop.counts = what.rank == test::victim;
  try {
    for (int cycle = 0; cycle < num_cycles; ++cycle)
      setup == "exchanger" ? exchange_without(what.comm, memory, watchdog_s)
                           : exchange_by_plan(what.comm, memory, options);
    stop.counts = false;
    stop.say("done, " + std::to_string(stop.points) + " points");
  } catch (const nuice::Error& error) {
    stop.counts = false;
    stop.say(std::string(nuice::error_code_name(error.code())) + ": " + error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const test::FaultCase what(argc, argv);
  const double watchdog_s = std::stod(what.words[3]);
  MPI_Barrier(MPI_COMM_WORLD);
  stop.me = what.name();
  stop.is_for_good = what.words[0] == "freeze";
  stop.at = std::stoi(what.words[2]);
  run(what, what.words[1], watchdog_s);
  if (stop.is_for_good && stop.at > 0) {
    test::linger(2 * watchdog_s + 1);
    _exit(0);  // MPI_Finalize would wait for the one that is stopped
  }
  MPI_Finalize();
  return 0;
}
