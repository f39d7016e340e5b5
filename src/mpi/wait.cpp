// SPDX-License-Identifier: BSD-3-Clause
// A rank whose watchdog expires asks all other ranks whether they are there. Ranks that wait here too answer,
// so only ranks that are dead, stopped or not waiting are named. The asking rank waits at most AnswerTime.
#include "mpi/wait.hpp"

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/support/watchdog.hpp"
#include "mpi/call.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// The part of the limit that the time between two polls may use up. On a machine with more ranks than cores,
/// ranks reach the many steps of a collective operation late without being at fault.
constexpr double most_of_limit = 0.01;
/// The first part of a wait, in which a rank neither asks other ranks nor checks for their questions, because
/// a check would cost as much as a short wait.
constexpr double quick_s = 0.001;
/// The interval between checks for questions. A check is another MPI call, which other polls avoid (see
/// Patience).
constexpr double look_every_s = 0.01;

/// Questions to other ranks, and answers. They are empty messages with the two largest tags, which no other
/// messages use.
class RollCall {
 public:
  explicit RollCall(const Communicator& comm)
      : comm_(comm), question_(largest_tag()), answer_(largest_tag() - 1) {}

  /// Answers the ranks that have asked.
  void answer() {
    for (MPI_Status status; has_come(question_, status);) {
      take(status);
      send(status.MPI_SOURCE, answer_);
    }
  }
  /// Returns the other ranks that do not answer.
  std::vector<Rank> silent_ranks() {
    std::vector<char> is_present(static_cast<std::size_t>(comm_.num_ranks()), 0);
    is_present[static_cast<std::size_t>(comm_.rank())] = 1;
    for (Rank other = 0; other < comm_.num_ranks(); ++other)
      if (other != comm_.rank()) send(other, question_);
    for (AnswerTime time; !time.is_over(MPI_Wtime()); std::this_thread::yield()) {
      answer();
      for (MPI_Status status; has_come(answer_, status);) {
        take(status);
        is_present[static_cast<std::size_t>(status.MPI_SOURCE)] = 1;
      }
    }
    std::vector<Rank> silent;
    for (Rank rank = 0; rank < comm_.num_ranks(); ++rank)
      if (is_present[static_cast<std::size_t>(rank)] == 0) silent.push_back(rank);
    return silent;
  }

 private:
  bool has_come(int tag, MPI_Status& status) const {
    int flag = 0;
    return MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_.get(), &flag, &status) == MPI_SUCCESS && flag != 0;
  }
  void take(MPI_Status& status) const {
    MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm_.get(), MPI_STATUS_IGNORE);
  }
  /// Ignores errors: a rank that cannot be reached will not answer.
  void send(Rank to, int tag) const {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, comm_.get(), &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }

  const Communicator& comm_;
  int question_, answer_;
};

std::string me(const Communicator& comm) { return "rank " + std::to_string(comm.rank()) + " gives up"; }

[[noreturn]] void time_out(const Communicator& comm, RollCall& roll, double seconds, const char* call) {
  const std::vector<Rank> silent = roll.silent_ranks();
  throw Error(ErrorCode::timeout,
              me(comm) + " after " + std::to_string(seconds) + " s in " + call +
                  (silent.empty() ? "; all ranks answer" : "; no answer from " + names_of(silent)));
}

}  // namespace

Watch::Watch(const Communicator& comm, const char* call)
    : comm_(comm), call_(call), look_at_s_(MPI_Wtime() + quick_s) {}

void Watch::found_nothing() {
  patience_.found_nothing();
  if (!comm_.watches()) return;
  try {
    look();
  } catch (...) {
    comm_.give_up();
    throw;
  }
}

void Watch::look() {
  const double now_s = MPI_Wtime();
  if (was_quick_ && now_s < look_at_s_) return;
  was_quick_ = false;
  if (const auto dead = comm_.watches_deaths() ? dead_ranks(comm_) : std::vector<Rank>(); !dead.empty())
    throw naming(Error(ErrorCode::mpi, me(comm_)), dead);
  RollCall roll(comm_);
  if (now_s >= look_at_s_) {
    roll.answer();
    look_at_s_ = now_s + look_every_s;
  }
  quiet_.look(0, now_s, comm_.watchdog_s() * most_of_limit);
  if (comm_.watchdog_s() > 0 && quiet_.seconds() >= comm_.watchdog_s())
    time_out(comm_, roll, quiet_.seconds(), call_);
}

void let_mpi_go_on(const Communicator& comm, int tag) {
  int flag = 0;
  must(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.get(), &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

void must_naming(const Communicator& comm, int code, const char* call) {
  try {
    must(code, call);
  } catch (const Error& error) {
    comm.give_up();
    throw with_dead_ranks(error, comm);
  }
}

void wait(const Communicator& comm, MPI_Request& request, const char* call, MPI_Status* status) {
  if (!comm.watches()) {
    must(MPI_Wait(&request, status), call);
    return;
  }
  Watch watch(comm, call);
  while (true) {
    int done = 0;
    must_naming(comm, MPI_Test(&request, &done, status), call);
    if (done != 0) return;
    watch.found_nothing();
  }
}

void wait_all(const Communicator& comm, std::span<MPI_Request> requests, const char* call) {
  if (!comm.watches()) {
    must(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return;
  }
  for (MPI_Request& request : requests) wait(comm, request, call);
}

void wait_for_duplicate(MPI_Comm parent, MPI_Request& request, double watchdog_s, bool watches_deaths,
                        const Communicator* known) {
  QuietTime quiet;
  Patience patience;
  double look_at_s = MPI_Wtime() + quick_s;
  while (true) {
    int done = 0;
    must_duplicate(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done != 0) return;
    if (const auto dead = watches_deaths ? dead_ranks(parent) : std::vector<Rank>(); !dead.empty())
      throw naming(Error(ErrorCode::mpi, "this rank gives up in MPI_Comm_idup"), dead);
    patience.found_nothing();
    const double now_s = MPI_Wtime();
    quiet.look(0, now_s, watchdog_s * most_of_limit);
    if (known != nullptr && now_s >= look_at_s) {
      RollCall(*known).answer();
      look_at_s = now_s + look_every_s;
    }
    if (watchdog_s > 0 && quiet.seconds() >= watchdog_s) {
      if (known != nullptr) {
        RollCall roll(*known);
        time_out(*known, roll, quiet.seconds(), "MPI_Comm_idup");
      }
      throw Error(ErrorCode::timeout,
                  "this rank gives up after " + std::to_string(quiet.seconds()) +
                      " s in MPI_Comm_idup: not all ranks of the communicator have called it");
    }
  }
}

}  // namespace nuice::mpi
