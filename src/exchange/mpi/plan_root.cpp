// SPDX-License-Identifier: BSD-3-Clause
// Planning on rank 0 alone: it gathers the matrix, makes and checks the schedule, and sends every rank its slice.
//
// Cost: T_gather + T_schedule + T_check on rank 0, and the slices leave it one after the other. Memory on the others:
// O(own messages), and nothing else; on rank 0 what planning everywhere takes on every rank, and all slices.
#include <cstring>
#include <type_traits>

#include "exchange/mpi/agree.hpp"
#include "exchange/mpi/call.hpp"
#include "exchange/mpi/gather.hpp"
#include "exchange/mpi/plan_state.hpp"
#include "nuice/error.hpp"
#include "nuice/networks.hpp"

namespace nuice::mpi {
namespace {

constexpr Rank root = 0;

/// A phase table as bytes: its numbers, then its arrays as they lie in memory. All ranks run the same program.
struct Head {
  Rank rank;
  Rank num_ranks;
  PhaseId num_phases;
  std::size_t num_destinations, num_sources, num_entries, num_parts;
};

template <typename Visit>
void visit_arrays(auto& table, Visit&& visit) {
  visit(table.destinations);
  visit(table.sources);
  visit(table.entries);
  visit(table.parts);
}

void append(const PhaseTable& table, std::vector<std::byte>& bytes) {
  const auto put = [&bytes](const void* from, std::size_t size) {
    const std::size_t at = bytes.size();
    bytes.resize(at + size);
    if (size > 0) std::memcpy(bytes.data() + at, from, size);
  };
  const Head head{table.rank,           table.num_ranks,      table.num_phases,  table.destinations.size(),
                  table.sources.size(), table.entries.size(), table.parts.size()};
  put(&head, sizeof head);
  visit_arrays(table, [&]<typename T>(const std::vector<T>& array) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(array.data(), array.size() * sizeof(T));
  });
}

PhaseTable read_table(const std::vector<std::byte>& bytes) {
  std::size_t at = 0;
  const auto get = [&](void* to, std::size_t size) {
    if (size > 0) std::memcpy(to, bytes.data() + at, size);
    at += size;
  };
  Head head{};
  get(&head, sizeof head);
  PhaseTable table{.rank = head.rank,
                   .num_ranks = head.num_ranks,
                   .num_phases = head.num_phases,
                   .destinations = {},
                   .sources = {},
                   .entries = {}};
  table.destinations.resize(head.num_destinations);
  table.sources.resize(head.num_sources);
  table.entries.resize(head.num_entries);
  table.parts.resize(head.num_parts);
  visit_arrays(table,
               [&]<typename T>(std::vector<T>& array) { get(array.data(), array.size() * sizeof(T)); });
  return table;
}

/// What rank 0 has for the others: rank r's table at [begin[r], begin[r + 1]).
struct Slices {
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> begin;
};

Slices pack(std::vector<PhaseTable> tables) {
  Slices slices;
  for (PhaseTable& table : tables) {
    slices.begin.push_back(static_cast<std::int64_t>(slices.bytes.size()));
    append(table, slices.bytes);
    table = {};
  }
  slices.begin.push_back(static_cast<std::int64_t>(slices.bytes.size()));
  return slices;
}

/// Collective. This rank's table. Memory beside rank 0's slices: that of the own one.
PhaseTable scatter(const Communicator& comm, const Slices& slices, int tag) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 1; i < slices.begin.size(); ++i)
    sizes.push_back(slices.begin[i] - slices.begin[i - 1]);
  std::int64_t size = 0;
  must(MPI_Scatter(sizes.data(), 1, MPI_INT64_T, &size, 1, MPI_INT64_T, root, comm.get()), "MPI_Scatter");
  std::vector<std::byte> mine;
  all_or_none(comm, [&] { mine.resize(static_cast<std::size_t>(size)); });
  if (comm.rank() == root) {
    for (Rank rank = 1; rank < comm.num_ranks(); ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      const Extent extent = Extent::of(sizes[i]);
      must(MPI_Send(slices.bytes.data() + slices.begin[i], extent.count, extent.type.get(), rank, tag,
                    comm.get()),
           "MPI_Send");
    }
    if (size > 0) std::memcpy(mine.data(), slices.bytes.data(), mine.size());
  } else {
    const Extent extent = Extent::of(size);
    must(MPI_Recv(mine.data(), extent.count, extent.type.get(), root, tag, comm.get(), MPI_STATUS_IGNORE),
         "MPI_Recv");
  }
  PhaseTable table;
  all_or_none(comm, [&] { table = read_table(mine); });
  return table;
}

}  // namespace

/// Rank 0's facts but for texts and times, on all ranks.
void Plan::State::share_info() {
  struct Facts {
    MessageId num_messages;
    PhaseId num_phases;
    Bytes phase_bytes, staged_bytes;
    Bounds bounds;
  };
  static_assert(std::is_trivially_copyable_v<Facts>);
  Facts facts{info.num_messages, info.num_phases, info.phase_bytes, info.staged_bytes, info.bounds};
  must(MPI_Bcast(&facts, sizeof facts, MPI_BYTE, root, comm->get()), "MPI_Bcast");
  info.num_messages = facts.num_messages;
  info.num_phases = facts.num_phases;
  info.phase_bytes = facts.phase_bytes;
  info.staged_bytes = facts.staged_bytes;
  info.bounds = facts.bounds;
}

void Plan::State::make_on_root(const Scheduler& scheduler, const PlanOptions& options) {
  StopWatch watch;
  const Gathered rows = gather_rows_at(*comm, destinations, root);
  info.gather_s = watch.lap();
  Slices slices;
  describe(options);
  all_or_none(*comm, [&] {
    if (comm->rank() != root) return;
    const CommMatrix matrix = matrix_of(*comm, rows);
    const auto topology = options.topology.empty() ? nullptr : make_topology(options.topology);
    const Problem problem{.matrix = matrix,
                          .seed = options.seed,
                          .phase_cost_bytes = options.phase_cost_bytes,
                          .topology = topology.get()};
    const Schedule schedule = make_schedule_for(problem, scheduler);
    info.schedule_s = watch.lap();
    if (options.check) require_correct_for(problem, schedule, scheduler);
    info.check_s = options.check ? watch.lap() : 0;
    describe(matrix, schedule, options);
    slices = pack(slice_all(matrix, schedule));
  });
  table = scatter(*comm, slices, 0);
  share_info();
  info.gather_s += watch.lap();  // the way back is part of it
}

}  // namespace nuice::mpi
