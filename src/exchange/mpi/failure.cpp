// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/mpi/failure.hpp"

#include <mpi.h>

#include <algorithm>
#include <numeric>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

namespace nuice::mpi {

std::string names_of(std::vector<Rank> ranks) {
  std::ranges::sort(ranks);
  const auto repeats = std::ranges::unique(ranks);
  ranks.erase(repeats.begin(), repeats.end());
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
    text += (i == 0 ? "rank " : ", rank ") + std::to_string(ranks[i]);
  if (ranks.size() > most) text += " and " + std::to_string(ranks.size() - most) + " more";
  return text;
}

#ifdef OMPI_HAVE_MPI_EXT_FTMPI
std::vector<Rank> dead_ranks(const Communicator& comm) noexcept {
  MPI_Group dead = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  if (MPIX_Comm_failure_ack(comm.get()) != MPI_SUCCESS) return {};
  if (MPIX_Comm_failure_get_acked(comm.get(), &dead) != MPI_SUCCESS) return {};
  int count = 0;
  MPI_Group_size(dead, &count);
  std::vector<int> inside(static_cast<std::size_t>(count));
  std::iota(inside.begin(), inside.end(), 0);
  std::vector<Rank> ranks(inside.size());
  MPI_Comm_group(comm.get(), &all);
  MPI_Group_translate_ranks(dead, count, inside.data(), all, ranks.data());
  MPI_Group_free(&all);
  if (count > 0) MPI_Group_free(&dead);  // the empty group is MPI's own
  return ranks;
}
#else
std::vector<Rank> dead_ranks(const Communicator&) noexcept { return {}; }
#endif

Error with_dead_ranks(const Error& error, const Communicator& comm) {
  if (error.code() != ErrorCode::mpi) return error;
  const std::vector<Rank> dead = dead_ranks(comm);
  if (dead.empty()) return error;
  return Error(error.code(), std::string(error.what()) + "; dead: " + names_of(dead));
}

}  // namespace nuice::mpi
