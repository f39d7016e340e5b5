// SPDX-License-Identifier: BSD-3-Clause
// What becomes of an exchange when a rank stops for a while, or dies. fault_test.py runs it.
//
//   fault_program pause EXECUTOR   rank 1 is stopped (SIGSTOP) for a second; all exchanges must complete and be right
//   fault_program kill EXECUTOR    rank 1 dies (SIGKILL); every other rank must end with an error within seconds
//
// Prints a line per rank that came to its end: "rank R done" or "rank R code: text".
#include <mpi.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "nuice/error.hpp"
#include "nuice/mpi.hpp"

namespace {

constexpr int victim = 1;
constexpr nuice::Bytes bytes = 100'000;  // above every eager limit

void say(int rank, const std::string& text) {
  std::printf("rank %d %s\n", rank, text.c_str());
  std::fflush(stdout);
}

/// Stops this process from outside, as an operator would, and lets it go on a second later.
void pause_for_a_second() {
  const pid_t self = getpid();
  if (fork() != 0) return;
  kill(self, SIGSTOP);  // only what may be called in a child of a process with threads
  sleep(1);
  kill(self, SIGCONT);
  _exit(0);
}

struct Everybody {
  std::vector<nuice::Partner> partners;
  std::vector<std::vector<unsigned char>> out, in;
  std::vector<nuice::SendBuffer> send;
  std::vector<nuice::ReceiveBuffer> receive;

  explicit Everybody(int rank, int num_ranks) {
    for (int other = 0; other < num_ranks; ++other) {
      if (other == rank) continue;
      partners.push_back({other, bytes});
      out.emplace_back(bytes, static_cast<unsigned char>(16 * rank + other));
      in.emplace_back(bytes, 0xEE);
    }
    for (std::size_t i = 0; i < partners.size(); ++i) {
      send.push_back({out[i].data(), bytes});
      receive.push_back({in[i].data(), bytes});
    }
  }
  bool is_right(int rank) {
    bool right = true;
    for (std::size_t i = 0; i < partners.size(); ++i) {
      const auto expected = static_cast<unsigned char>(16 * partners[i].rank + rank);
      right = right && std::ranges::all_of(in[i], [&](unsigned char byte) { return byte == expected; });
      std::ranges::fill(in[i], 0xEE);
    }
    return right;
  }
};

void run(int rank, int num_ranks, bool dies, nuice::mpi::Executor executor) {
  Everybody memory(rank, num_ranks);
  nuice::mpi::Plan plan(MPI_COMM_WORLD, memory.partners,
                        {.scheduler = "coloring", .executor = executor, .watchdog_s = dies ? 1.0 : 20.0});
  nuice::mpi::Exchange exchange = plan.bind(memory.send, memory.receive);
  for (int round = 0; round < 20; ++round) {
    if (rank == victim && round == 10) dies ? (void)raise(SIGKILL) : pause_for_a_second();
    try {
      exchange.start();
      exchange.wait();
    } catch (const nuice::Error& error) {
      say(rank, std::string(nuice::error_code_name(error.code())) + ": " + error.what());
      sleep(1);  // the others have theirs to say, and mpiexec ends all with the first
      _exit(0);  // MPI_Finalize would wait for the dead
    }
    if (!memory.is_right(rank)) throw nuice::Error(nuice::ErrorCode::mismatch, "wrong bytes");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int num_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  if (argc != 3) return 2;
  run(rank, num_ranks, std::strcmp(argv[1], "kill") == 0, nuice::mpi::find_executor(argv[2]));
  say(rank, "done");
  MPI_Finalize();
  return 0;
}
