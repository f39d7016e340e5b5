// SPDX-License-Identifier: BSD-3-Clause
// Three ways for ranks to learn their sources; nuice/mpi/discover.hpp has their ideas and costs.
//
// A rank that is through may begin the next call while another still receives from any source in this one. Calls
// therefore use two tags in turn: nobody comes two calls ahead, as each has a step that all ranks must take part in.
#include "exchange/plan/discover.hpp"
#include "mpi/collective.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <thread>

#include "exchange/plan/plan_state.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/gather.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

struct Name {
  Discovery way;
  std::string_view name;
};
constexpr std::array<Name, 4> names = {{{Discovery::automatic, "auto"},
                                        {Discovery::gather, "gather"},
                                        {Discovery::count, "count"},
                                        {Discovery::consensus, "consensus"}}};

/// Counting was the fastest wherever it was tried (docs/measurements.md); its vectors of n ints should stay small.
Discovery chosen(Discovery way, Rank num_ranks) {
  if (way != Discovery::automatic) return way;
  return num_ranks <= 1024 ? Discovery::count : Discovery::consensus;
}

void require_equal_ways(const Communicator& comm, Discovery mine) {
  auto first = static_cast<int>(mine);
  broadcast(comm, &first, 1, MPI_INT, 0);
  all_or_none(comm, [&] {
    if (discovery_name(mine) == "unknown")
      throw Error(ErrorCode::invalid_argument,
                  "unknown way of discovery " + std::to_string(static_cast<int>(mine)));
    if (static_cast<int>(mine) != first)
      throw Error(
          ErrorCode::mismatch,
          "the way of discovery differs: " + std::string(discovery_name(static_cast<Discovery>(first))) +
              " on rank 0, " + std::string(discovery_name(mine)) + " on rank " + std::to_string(comm.rank()));
  });
}

std::vector<Partner> by_gather(const Communicator& comm, std::span<const Partner> row) {
  std::vector<std::int64_t> mine;
  for (const Partner& to : row) mine.insert(mine.end(), {to.rank, to.bytes});
  const Gathered all = gather_records(comm, mine, 2);
  std::vector<Partner> sources;
  for (Rank src = 0; src < comm.num_ranks(); ++src)
    for (int i = all.begin[static_cast<std::size_t>(src)]; i < all.begin[static_cast<std::size_t>(src) + 1];
         ++i)
      if (all.record(i)[0] == comm.rank()) sources.push_back({src, all.record(i)[1]});
  return sources;
}

Partner receive_one(const Communicator& comm, int tag) {
  std::int64_t bytes = 0;
  MPI_Status status;
  receive(comm, &bytes, 1, MPI_INT64_T, MPI_ANY_SOURCE, tag, &status);
  return {status.MPI_SOURCE, bytes};
}

std::vector<Partner> by_count(const Communicator& comm, std::span<const Partner> row, int tag) {
  std::vector<int> ones(static_cast<std::size_t>(comm.num_ranks()), 0);
  for (const Partner& to : row) ones[static_cast<std::size_t>(to.rank)] = 1;
  int incoming = 0;
  reduce_scatter(comm, ones.data(), &incoming, MPI_INT, MPI_SUM);
  std::vector<MPI_Request> sends(row.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < row.size(); ++i)
    must(MPI_Isend(&row[i].bytes, 1, MPI_INT64_T, row[i].rank, tag, comm.get(), &sends[i]), "MPI_Isend");
  std::vector<Partner> sources;
  for (int i = 0; i < incoming; ++i) sources.push_back(receive_one(comm, tag));
  must(MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  return sources;
}

std::vector<Partner> by_consensus(const Communicator& comm, std::span<const Partner> row, int tag) {
  std::vector<MPI_Request> sends(row.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < row.size(); ++i)
    must(MPI_Issend(&row[i].bytes, 1, MPI_INT64_T, row[i].rank, tag, comm.get(), &sends[i]), "MPI_Issend");
  std::vector<Partner> sources;
  MPI_Request consensus = MPI_REQUEST_NULL;
  bool all_received = false;  // what this rank sent
  int all_through = 0;
  while (all_through == 0) {
    int is_here = 0;
    must(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.get(), &is_here, MPI_STATUS_IGNORE), "MPI_Iprobe");
    if (is_here != 0) {
      sources.push_back(receive_one(comm, tag));
      continue;
    }
    if (all_received) {
      must(MPI_Test(&consensus, &all_through, MPI_STATUS_IGNORE), "MPI_Test");
    } else {
      int done = 0;
      must(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE),
           "MPI_Testall");
      all_received = done != 0;
      if (all_received) must(MPI_Ibarrier(comm.get(), &consensus), "MPI_Ibarrier");
    }
    if (all_through == 0) std::this_thread::yield();
  }
  return sources;
}

}  // namespace

std::string_view discovery_name(Discovery way) {
  for (const Name& row : names)
    if (row.way == way) return row.name;
  return "unknown";
}

Discovery find_discovery(std::string_view name) {
  std::string known;
  for (const Name& row : names) {
    if (row.name == name) return row.way;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error(ErrorCode::invalid_argument,
              "unknown way of discovery \"" + std::string(name) + "\"; known: " + known);
}

std::vector<Partner> sources_of(const Communicator& comm, std::span<const Partner> row, Discovery way,
                                int tag) {
  std::vector<Partner> sources;
  switch (chosen(way, comm.num_ranks())) {
    case Discovery::automatic:
    case Discovery::gather:
      return by_gather(comm, row);
    case Discovery::count:
      sources = by_count(comm, row, tag);
      break;
    case Discovery::consensus:
      sources = by_consensus(comm, row, tag);
      break;
  }
  std::ranges::sort(sources, {}, &Partner::rank);
  return sources;
}

struct Discoverer::State {
  explicit State(MPI_Comm parent) : comm(parent) {}
  Communicator comm;
  int tag = 0;
};

Discoverer::Discoverer(MPI_Comm parent) : state_(std::make_unique<State>(parent)) {}
Discoverer::Discoverer(Discoverer&&) noexcept = default;
Discoverer& Discoverer::operator=(Discoverer&&) noexcept = default;
Discoverer::~Discoverer() = default;

std::vector<Partner> Discoverer::sources(std::span<const Partner> destinations, Discovery way) {
  const Communicator& comm = state_->comm;
  require_equal_ways(comm, way);
  std::vector<Partner> row;
  all_or_none(comm, [&] {
    check_destinations(comm, destinations);
    std::ranges::copy_if(destinations, std::back_inserter(row),
                         [](const Partner& to) { return to.bytes > 0; });
  });
  state_->tag = 1 - state_->tag;
  return sources_of(comm, row, way, state_->tag);
}

std::vector<Partner> discover(MPI_Comm comm, std::span<const Partner> destinations, Discovery way) {
  return Discoverer(comm).sources(destinations, way);
}

}  // namespace nuice::mpi
