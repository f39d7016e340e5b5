// SPDX-License-Identifier: BSD-3-Clause
// Planning on rank 0 alone: it has gathered the matrix, makes and checks the schedule, and sends every rank its slice.
//
// Cost: T_gather + T_schedule + T_check on rank 0, and the slices leave it block by block, at most 16 of them. Memory on
// the others: O(own messages), and nothing else; on rank 0 what planning everywhere takes on every rank, and the slices of
// one block.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "exchange/plan/planner.hpp"
#include "mpi/requests.hpp"
#include "mpi/share.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

template <>
struct nuice::core::Fields<nuice::PhaseTable> {
  static auto of(auto& table) {
    auto& [rank, num_ranks, num_phases, destinations, sources, entries, parts] = table;
    return std::tie(rank, num_ranks, num_phases, destinations, sources, entries, parts);
  }
};

template <>
struct nuice::core::Fields<nuice::mpi::Slice> {
  static auto of(auto& slice) {
    return std::tie(slice.table, slice.notices.gives, slice.notices.awaits, slice.send_to,
                    slice.receive_from);
  }
};

namespace nuice::mpi {
namespace {

constexpr Rank root = 0;  // which plans
enum SliceTag : int { size_tag, slice_tag };

/// Ranks [begin, end), and what rank 0 has for them.
struct SliceBlock {
  Rank begin;
  Rank end;
  std::vector<std::string> slices = {};
  std::vector<std::int64_t> sizes = {};
  std::vector<Extent> extents = {};
  std::vector<MPI_Request> requests = {};

  bool has(Rank rank) const { return begin <= rank && rank < end; }
  Rank rank_of(std::size_t slice) const { return begin + static_cast<Rank>(slice); }
};

/// The maximum number at once: rank 0 walks through the schedule once for each block, and holds the slices of one.
Rank block_size(Rank num_ranks) { return std::max<Rank>(64, (num_ranks + 15) / 16); }

/// All that rank 0 needs memory for.
void pack(std::vector<PhaseTable> tables, std::vector<Notices> notices, SliceBlock& block) {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    block.slices.push_back(core::to_bytes(Slice{std::move(tables[i]), std::move(notices[i]), {}, {}}));
    block.sizes.push_back(std::ssize(block.slices.back()));
    block.extents.push_back(Extent::of(block.sizes.back()));
    block.requests.push_back(MPI_REQUEST_NULL);
  }
}

/// On rank 0. Calls send(slice, rank, request) for all but its own, and waits.
template <typename Send>
void send_to_all(const Communicator& comm, SliceBlock& block, Send&& send) {
  for (std::size_t i = 0; i < block.slices.size(); ++i)
    if (block.rank_of(i) != root) must(send(i, block.rank_of(i), &block.requests[i]), "MPI_Isend");
  wait_all(comm, block.requests, "MPI_Isend");
}

/// How many bytes this rank's slice has, if it is of the block.
std::int64_t learn_size(const Communicator& comm, SliceBlock& block) {
  std::int64_t size = 0;
  if (comm.rank() == root) {
    send_to_all(comm, block, [&](std::size_t i, Rank rank, MPI_Request* request) {
      return MPI_Isend(&block.sizes[i], 1, MPI_INT64_T, rank, size_tag, comm.get(), request);
    });
    if (block.has(root)) size = block.sizes.front();
  } else if (block.has(comm.rank())) {
    receive(comm, &size, 1, MPI_INT64_T, root, size_tag);
  }
  return size;
}

/// This rank's slice, if it is of the block; it has room for it.
void receive_slice(const Communicator& comm, SliceBlock& block, std::span<char> mine) {
  if (comm.rank() == root) {
    send_to_all(comm, block, [&](std::size_t i, Rank rank, MPI_Request* request) {
      return MPI_Isend(block.slices[i].data(), block.extents[i].count, block.extents[i].type.get(), rank,
                       slice_tag, comm.get(), request);
    });
    if (block.has(root)) std::ranges::copy(block.slices.front(), mine.begin());
  } else if (block.has(comm.rank())) {
    const Extent extent = Extent::of(std::ssize(mine));
    receive(comm, mine.data(), extent.count, extent.type.get(), root, slice_tag);
  }
}

/// Collective. This rank's slice. fill: puts the slices into a block, on rank 0.
template <typename Fill>
Slice scatter(const Communicator& comm, Fill&& fill) {
  Slice slice;
  Outcome outcome;
  const Rank size = block_size(comm.num_ranks());
  for (Rank begin = 0; begin < comm.num_ranks(); begin += size) {
    SliceBlock block{.begin = begin, .end = std::min(comm.num_ranks(), begin + size)};
    all_or_none(comm, [&] {
      if (comm.rank() == root) fill(block);
    });
    const std::int64_t bytes = learn_size(comm, block);
    std::string mine;
    all_or_none(comm, [&] { mine.resize(static_cast<std::size_t>(bytes)); });
    receive_slice(comm, block, mine);
    if (block.has(comm.rank())) outcome = attempt(comm.rank(), [&] { core::from_bytes(mine, slice); });
  }
  agree(comm, outcome);
  return slice;
}

}  // namespace

void Plan::Planner::share_from_root(const Problem& problem, const Schedule* schedule,
                                    const PlanOptions& options) {
  Slice mine = scatter(*comm, [&](auto& block) {
    pack(slice_range(problem.matrix, *schedule, block.begin, block.end),
         notices_for(*schedule, problem.topology, options, block.begin, block.end), block);
  });
  slice = std::move(mine);
  share_from_rank_0(*comm, info.num_messages, info.num_phases, info.phase_bytes, info.staged_bytes,
                    info.bounds);
}

}  // namespace nuice::mpi
