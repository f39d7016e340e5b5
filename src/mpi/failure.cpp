// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/failure.hpp"

#include <mpi.h>

#include <chrono>
#include <csignal>
#include <mutex>
#include <numeric>
#include <thread>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

namespace nuice::mpi {

#ifdef OMPI_HAVE_MPI_EXT_FTMPI
bool tells_of_deaths() {
  if (!has_world()) return false;
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_FT, static_cast<void*>(&value), &found);
  return found != 0 && *static_cast<const int*>(value) != 0;
}

namespace {

std::vector<Rank> known_dead(MPI_Comm comm) {
  MPI_Group dead = MPI_GROUP_NULL;
  if (MPIX_Comm_failure_ack(comm) != MPI_SUCCESS) return {};
  if (MPIX_Comm_failure_get_acked(comm, &dead) != MPI_SUCCESS) return {};
  int count = 0;
  MPI_Group_size(dead, &count);
  if (count == 0) return {};  // the empty group belongs to MPI
  std::vector<int> inside(static_cast<std::size_t>(count));
  std::iota(inside.begin(), inside.end(), 0);
  std::vector<Rank> ranks(inside.size());
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &all);
  MPI_Group_translate_ranks(dead, count, inside.data(), all, ranks.data());
  MPI_Group_free(&all);
  MPI_Group_free(&dead);
  return ranks;
}

bool is_revoked(MPI_Comm comm) {
  int revoked = 0;
  return MPIX_Comm_is_revoked(comm, &revoked) == MPI_SUCCESS && revoked != 0;
}

/// Like known_dead(). But if another rank has revoked the communicator and MPI has not yet reported the death
/// to this rank, waits for the report for up to a second.
std::vector<Rank> soon_known_dead(MPI_Comm comm) {
  constexpr double patience_s = 1;
  const double end_s = MPI_Wtime() + patience_s;
  std::vector<Rank> dead = known_dead(comm);
  while (dead.empty() && is_revoked(comm) && MPI_Wtime() < end_s) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, any_comm(), &flag, MPI_STATUS_IGNORE);  // lets MPI learn of the
                                                                                    // death
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    dead = known_dead(comm);
  }
  return dead;
}

}  // namespace
#else
bool tells_of_deaths() { return false; }

namespace {
std::vector<Rank> known_dead(MPI_Comm) { return {}; }
std::vector<Rank> soon_known_dead(MPI_Comm) { return {}; }
}  // namespace
#endif

void outlive_broken_pipes() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction now = {};
    if (sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
  });
}

Error naming(const Error& error, const std::vector<Rank>& dead) {
  constexpr std::string_view words = "; dead: ";
  const std::string text = error.what();
  if (dead.empty() || text.find(words) != std::string::npos) return error;
  return Error(error.code(), text + std::string(words) + names_of(dead));
}

std::vector<Rank> dead_ranks(const Communicator& comm) { return known_dead(comm.get()); }
std::vector<Rank> dead_ranks(MPI_Comm comm) { return known_dead(comm); }

Error with_dead_ranks(const Error& error, const Communicator& comm) {
  return error.code() == ErrorCode::mpi ? naming(error, soon_known_dead(comm.get())) : error;
}

std::shared_ptr<const Communicator> duplicate(MPI_Comm parent, double watchdog_s, const Communicator* known) {
  try {
    return std::make_shared<const Communicator>(parent, watchdog_s, known);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::mpi) throw;
    throw naming(error, soon_known_dead(parent));
  }
}

}  // namespace nuice::mpi
