// SPDX-License-Identifier: BSD-3-Clause
// What the programs share whose ranks stop or die: cases of four ranks each, apart from the others'.
#pragma once

#include <mpi.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::test {

inline constexpr int ranks_per_case = 4;
inline constexpr int victim = 1;
inline constexpr Bytes fault_bytes = 100'000;  // of each message: above every eager limit

/// What is planned and bound.
inline const std::map<std::string, mpi::PlanOptions> fault_setups = {
    {"async", {.scheduler = "coloring", .executor = "async"}},
    {"phased", {.scheduler = "coloring", .executor = "phased", .hosts = "1"}},
    {"few", {.scheduler = "coloring", .executor = "async", .async = {.max_sends = 2}}},
    {"combined",
     {.scheduler = "ac",
      .executor = "async",
      .hosts = "2",
      .combine = true,
      .combining = {.largest_bytes = fault_bytes}}},
    {"memory",
     {.scheduler = "ac",
      .executor = "async",
      .shared_memory = true,
      .sharing = {.largest_bytes = fault_bytes}}},
    {"pairwise", {.scheduler = "coloring", .executor = "pairwise"}},
    {"depend", {.scheduler = "coloring", .executor = "depend"}},
    {"distributed",
     {.scheduler = "distributed_coloring",
      .executor = "phased",
      .planning = mpi::Planning::distributed,
      .distributed = {.gather_bytes = 0}}},
    {"auto", {.scheduler = "auto", .executor = "auto"}},
    {"exchanger", {}},
};

/// Stops this process; a child of it sends `signal` after `seconds`, as an operator would from outside. It
/// does nothing but what may be done in a child of a process with threads.
inline void stop_until(int signal, unsigned seconds) {
  const pid_t self = getpid();
  if (fork() != 0) {
    raise(SIGSTOP);
    return;
  }
  sleep(seconds);
  kill(self, signal);
  _exit(0);
}

/// Stops this process until the others are gone: not every launcher can end a process that is stopped.
inline void freeze() { stop_until(SIGKILL, 12); }

/// A message to every other rank, or to the next one only.
struct FaultMemory {
  int rank;
  std::vector<Partner> to, from;
  std::vector<std::vector<unsigned char>> out, in;
  std::vector<SendBuffer> send;
  std::vector<ReceiveBuffer> receive;

  FaultMemory(int my_rank, bool is_ring) : rank(my_rank) {
    for (int other = 0; other < ranks_per_case; ++other) {
      if (other == rank) continue;
      if (!is_ring || other == (rank + 1) % ranks_per_case) {
        to.push_back({other, fault_bytes});
        out.emplace_back(fault_bytes, static_cast<unsigned char>(16 * rank + other));
      }
      if (!is_ring || rank == (other + 1) % ranks_per_case) {
        from.push_back({other, fault_bytes});
        in.emplace_back(fault_bytes, spoilt);
      }
    }
    for (auto& block : out) send.push_back({block.data(), fault_bytes});
    for (auto& block : in) receive.push_back({block.data(), fault_bytes});
  }
  /// Compares what has come, and makes room for the next.
  void take() {
    for (std::size_t i = 0; i < from.size(); ++i)
      if (!consists_of(in[i], static_cast<unsigned char>(16 * from[i].rank + rank)))
        throw Error(ErrorCode::mismatch, "wrong bytes");
    spoil();
  }
  void spoil() {
    for (auto& block : in) std::ranges::fill(block, spoilt);
  }
  bool is_spoilt() const {
    return std::ranges::all_of(in, [](const auto& block) { return consists_of(block, spoilt); });
  }

 private:
  static constexpr unsigned char spoilt = 0xEE;
  static bool consists_of(const std::vector<unsigned char>& block, unsigned char byte) {
    return std::ranges::count(block, byte) == std::ssize(block);
  }
};

/// The four parts of A/B/C/D.
inline std::vector<std::string> four_words(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) c == '/' ? (void)words.emplace_back() : words.back().push_back(c);
  if (words.size() != 4) throw Error(ErrorCode::parse, text);
  return words;
}

/// The case of this process, after MPI_Init: A/B/C/D, one argument of the program for each four ranks.
struct FaultCase {
  int number = 0;
  int rank = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<std::string> words;

  FaultCase(int argc, char** argv) {
    int num_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    if (num_ranks != ranks_per_case * (argc - 1)) MPI_Abort(MPI_COMM_WORLD, 2);
    number = rank / ranks_per_case;
    rank %= ranks_per_case;
    MPI_Comm_split(MPI_COMM_WORLD, number, rank, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);  // those of MPI_Comm_dup in Plan
    words = four_words(argv[number + 1]);
  }
  std::string name() const { return "case " + std::to_string(number) + " rank " + std::to_string(rank); }
};

/// Lets in what is still in flight. The others have theirs to say, those of other cases too, and mpiexec ends
/// all of them with the first.
inline void linger(double seconds) {
  const double end_s = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end_s) {
    int flag = 0;
    PMPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    usleep(1000);
  }
}

}  // namespace nuice::test
