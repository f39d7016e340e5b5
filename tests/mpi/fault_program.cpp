// SPDX-License-Identifier: BSD-3-Clause
// What becomes of exchanges when a rank stops for a while, forever, or dies. fault_test.py runs it.
//
//   fault_program HOW/EXECUTOR/PATTERN/WATCHDOG_S ...    four ranks for each case, apart from the others'
//
//   HOW      pause    rank 1 is stopped (SIGSTOP) for a second; all exchanges must complete and be right
//            freeze   it is stopped for good
//            kill     it dies (SIGKILL) between two exchanges
//            plan     it dies before its next Plan; plan_freeze: it is stopped there for good
//            bind     it dies before its next bind(); bind_freeze
//            halo     it dies somewhere while halos are made one after the other, in each case a millisecond
//                     later
//            late     it dies, and rank 3 begins its exchange when the others have already given theirs up
//                     and taken their memory back, which must stay as it is then
//   EXECUTOR by its name; combined: messages between hosts of two ranks are combined;
//   memory: they go through memory that all ranks share
//   PATTERN  all      every rank sends to every rank
//            ring     rank r to rank r + 1 only: rank 3 has no message with the victim
//
// Prints a line per rank that came to its end: "case C rank R done" or "case C rank R code: text".
#include <mpi.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/mpi/halo.hpp"
#include "nuice/mpi/plan.hpp"
#include "support/faults.hpp"

namespace {

constexpr int ranks_per_case = 4;
constexpr int victim = 1;
constexpr int late_rank = 3;
constexpr int fatal_round = 5;
constexpr nuice::Bytes bytes = 100'000;  // above every eager limit
constexpr unsigned char spoilt = 0xEE;

struct Case {
  int number;
  std::string how;
  std::string executor;
  bool is_ring;
  double watchdog_s;
};

Case parse_case(int number, const std::string& text) {
  const auto words = nuice::test::four_words(text);
  return {number, words[0], words[1], words[2] == "ring", std::stod(words[3])};
}

struct Memory {
  std::vector<nuice::Partner> to, from;
  std::vector<std::vector<unsigned char>> out, in;
  std::vector<nuice::SendBuffer> send;
  std::vector<nuice::ReceiveBuffer> receive;

  Memory(int rank, bool is_ring) {
    for (int other = 0; other < ranks_per_case; ++other) {
      if (other == rank) continue;
      if (!is_ring || other == (rank + 1) % ranks_per_case) {
        to.push_back({other, bytes});
        out.emplace_back(bytes, static_cast<unsigned char>(16 * rank + other));
      }
      if (!is_ring || rank == (other + 1) % ranks_per_case) {
        from.push_back({other, bytes});
        in.emplace_back(bytes, spoilt);
      }
    }
    for (auto& block : out) send.push_back({block.data(), bytes});
    for (auto& block : in) receive.push_back({block.data(), bytes});
  }
  bool is_right(int rank) {
    bool right = true;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto expected = static_cast<unsigned char>(16 * from[i].rank + rank);
      right = right && std::ranges::all_of(in[i], [&](unsigned char byte) { return byte == expected; });
    }
    return right;
  }
  void spoil() {
    for (auto& block : in) std::ranges::fill(block, spoilt);
  }
  bool is_spoilt() const {
    return std::ranges::all_of(in, [](const auto& block) {
      return std::ranges::all_of(block, [](unsigned char byte) { return byte == spoilt; });
    });
  }
};

class Rank {
 public:
  Rank(const Case& what, MPI_Comm comm) : what_(what), comm_(comm) { MPI_Comm_rank(comm, &rank_); }

  void run() {
    Memory memory(rank_, what_.is_ring);
    try {
      for (int round = 0; round < 4 * fatal_round; ++round) {
        const bool is_fatal = round == fatal_round;
        if (is_fatal) suffer("plan");
        nuice::mpi::Plan plan(comm_, memory.to, options());
        if (is_fatal) suffer("bind");
        nuice::mpi::Exchange exchange = plan.bind(memory.send, memory.receive);
        if (is_fatal && what_.how == "halo") make_halos();
        for (const char* how : {"pause", "freeze", "kill", "late"})
          if (is_fatal) suffer(how);
        if (is_fatal && what_.how == "late" && rank_ == late_rank) sleep(1);
        for (int again = 0; again < 4; ++again) {
          exchange.start();
          exchange.wait();
          if (!memory.is_right(rank_)) throw nuice::Error(nuice::ErrorCode::mismatch, "wrong bytes");
          memory.spoil();
        }
      }
      say("done");
    } catch (const nuice::Error& error) {
      give_up(memory, error);
    }
  }

 private:
  void say(const std::string& text) const {
    std::printf("case %d rank %d %s\n", what_.number, rank_, text.c_str());
    std::fflush(stdout);
  }

  nuice::mpi::PlanOptions options() const {
    if (what_.executor == "combined")
      return {.scheduler = "ac",
              .executor = "async",
              .hosts = "2",
              .combine = true,
              .watchdog_s = what_.watchdog_s,
              .combining = {.largest_bytes = bytes}};
    if (what_.executor == "memory")
      return {.scheduler = "ac",
              .executor = "async",
              .shared_memory = true,
              .watchdog_s = what_.watchdog_s,
              .sharing = {.largest_bytes = bytes}};
    return {.scheduler = "coloring", .executor = what_.executor, .watchdog_s = what_.watchdog_s};
  }

  void suffer(const std::string& how) const {
    if (rank_ != victim || (how != what_.how && how + "_freeze" != what_.how)) return;
    if (how == "pause") {
      nuice::test::stop_until(SIGCONT, 1);
    } else if (what_.how.ends_with("freeze")) {
      nuice::test::freeze();
    } else {
      raise(SIGKILL);
    }
  }

  void make_halos() const {
    const nuice::mpi::GlobalIndex needed = (rank_ + 1) % ranks_per_case;
    const auto make_one = [&] {
      nuice::mpi::Halo(comm_, nuice::mpi::Ownership::list({rank_}), std::span(&needed, 1), options());
    };
    // Those after it make no communicators: Open MPI 5.0.11 crashes where somebody dies meanwhile.
    make_one();
    struct sigaction pipe = {};
    sigaction(SIGPIPE, nullptr, &pipe);  // else a write to the dead one's socket ends a rank without a word
    if (pipe.sa_handler != SIG_IGN) throw nuice::Error(nuice::ErrorCode::state, "SIGPIPE is not ignored");
    const itimerval end = {.it_interval = {}, .it_value = {0, 1000 * (1 + what_.number)}};
    if (rank_ == victim) setitimer(ITIMER_REAL, &end, nullptr);  // SIGALRM ends it
    for (int i = 0; i < 10'000; ++i) make_one();
  }

  /// The exchange is gone already.
  [[noreturn]] void give_up(Memory& memory, const nuice::Error& error) const {
    memory.spoil();
    const double end_s = MPI_Wtime() + 5;
    std::string text = std::string(nuice::error_code_name(error.code())) + ": " + error.what();
    if (what_.how != "late") say(text);
    // The others have theirs to say, and mpiexec ends all of them with the first.
    while (MPI_Wtime() < end_s) {
      int flag = 0;
      MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);  // lets in what is still in flight
      usleep(1000);
    }
    if (what_.how == "late") say((memory.is_spoilt() ? "" : "written to: ") + text);
    _exit(0);  // MPI_Finalize would wait for the dead
  }

  Case what_;
  MPI_Comm comm_;
  int rank_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int num_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  if (num_ranks != ranks_per_case * (argc - 1)) return 2;
  const int number = rank / ranks_per_case;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, number, rank, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);  // those of MPI_Comm_dup in Plan
  Rank(parse_case(number, argv[number + 1]), comm).run();
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
