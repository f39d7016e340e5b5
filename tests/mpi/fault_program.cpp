// SPDX-License-Identifier: BSD-3-Clause
// What becomes of exchanges when a rank stops or dies. fault_test.py runs it.
//
//   fault_program HOW/EXECUTOR/PATTERN/WATCHDOG_S ...    four ranks for each case, apart from the others'
//
//   HOW      freeze   rank 1 is stopped (SIGSTOP) for good
//            kill     it dies (SIGKILL) between two exchanges
//            plan     it dies before its next Plan; plan_freeze: it is stopped there for good
//            bind     it dies before its next bind(); bind_freeze
//            halo     it dies somewhere while halos are made one after the other, in each case a millisecond
//                     later
//            late     it dies, and rank 3 begins its exchange when the others have already given theirs up
//                     and taken their memory back, which must stay as it is then
//   EXECUTOR a row of the table in support/faults.hpp
//   PATTERN  all      every rank sends to every rank
//            ring     rank r to rank r + 1 only: rank 3 has no message with the victim
//
// Prints a line per rank that came to its end: "case C rank R done" or "case C rank R code: text".
#include <mpi.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "nuice/core/error.hpp"
#include "nuice/mpi/halo.hpp"
#include "nuice/mpi/plan.hpp"
#include "support/faults.hpp"

namespace {

namespace test = nuice::test;

constexpr int late_rank = 3;
constexpr int fatal_round = 5;

class Rank {
 public:
  explicit Rank(const test::FaultCase& what) : what_(what), how_(what.words[0]) {}

  void run() {
    test::FaultMemory memory(what_.rank, what_.words[2] == "ring");
    try {
      for (int round = 0; round < 4 * fatal_round; ++round) {
        const bool is_fatal = round == fatal_round;
        if (is_fatal) suffer("plan");
        nuice::mpi::Plan plan(what_.comm, memory.to, options());
        if (is_fatal) suffer("bind");
        nuice::mpi::Exchange exchange = plan.bind(memory.send, memory.receive);
        if (is_fatal && how_ == "halo") make_halos();
        for (const char* how : {"freeze", "kill", "late"})
          if (is_fatal) suffer(how);
        if (is_fatal && how_ == "late" && what_.rank == late_rank) sleep(1);
        for (int again = 0; again < 4; ++again) {
          exchange.start();
          exchange.wait();
          memory.take();
        }
      }
      say("done");
    } catch (const nuice::Error& error) {
      give_up(memory, error);
    }
  }

 private:
  void say(const std::string& text) const {
    std::printf("%s %s\n", what_.name().c_str(), text.c_str());
    std::fflush(stdout);
  }

  nuice::mpi::PlanOptions options() const {
    nuice::mpi::PlanOptions options = test::fault_setups.at(what_.words[1]);
    options.watchdog_s = std::stod(what_.words[3]);
    return options;
  }

  void suffer(const std::string& how) const {
    if (what_.rank != test::victim || (how != how_ && how + "_freeze" != how_)) return;
    how_.ends_with("freeze") ? test::freeze() : (void)raise(SIGKILL);
  }

  void make_halos() const {
    const nuice::mpi::GlobalIndex needed = (what_.rank + 1) % test::ranks_per_case;
    const auto make_one = [&] {
      nuice::mpi::Halo(what_.comm, nuice::mpi::Ownership::list({what_.rank}), std::span(&needed, 1),
                       options());
    };
    // Those after it make no communicators: Open MPI 5.0.11 crashes where somebody dies meanwhile.
    make_one();
    struct sigaction pipe = {};
    sigaction(SIGPIPE, nullptr, &pipe);  // else a write to the dead one's socket ends a rank without a word
    if (pipe.sa_handler != SIG_IGN) throw nuice::Error(nuice::ErrorCode::state, "SIGPIPE is not ignored");
    const itimerval end = {.it_interval = {}, .it_value = {0, 1000 * (1 + what_.number)}};
    if (what_.rank == test::victim) setitimer(ITIMER_REAL, &end, nullptr);  // SIGALRM ends it
    for (int i = 0; i < 10'000; ++i) make_one();
  }

  /// The exchange is gone already.
  [[noreturn]] void give_up(test::FaultMemory& memory, const nuice::Error& error) const {
    memory.spoil();
    std::string text = std::string(nuice::error_code_name(error.code())) + ": " + error.what();
    if (how_ != "late") say(text);
    test::linger(5);
    if (how_ == "late") say((memory.is_spoilt() ? "" : "written to: ") + text);
    _exit(0);  // MPI_Finalize would wait for the dead
  }

  test::FaultCase what_;
  std::string how_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const test::FaultCase what(argc, argv);
  Rank(what).run();
  MPI_Comm comm = what.comm;
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
