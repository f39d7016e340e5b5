// SPDX-License-Identifier: BSD-3-Clause
// Methods by which ranks learn their sources; nuice/mpi/discover.hpp describes their ideas and costs.
//
// A rank that has finished may begin the next call while another rank still receives from any source in this
// call. Calls therefore alternate between two tags. Two tags suffice, because all ranks must take part in
// each call: no rank is two calls ahead.
#include "mpi/discover/discover.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "core/partners.hpp"
#include "core/support/table.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/discover/gather.hpp"
#include "mpi/discover/raw_values.hpp"
#include "mpi/discover/sparse.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Counting was the fastest method in all tests. With more ranks than this, its vectors of one int per rank
/// would be too large.
constexpr Rank most_ranks_counted = 1024;

std::vector<Partner> by_gather(const Communicator& comm, std::span<const Partner> row, int /*tag*/) {
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
  wait_all(comm, sends, "MPI_Isend");
  return sources;
}

std::vector<Partner> by_consensus(const Communicator& comm, std::span<const Partner> row, int tag) {
  SparseExchange::Box box;
  for (const Partner& to : row) box.add(to.rank, std::as_bytes(std::span(&to.bytes, 1)));
  SparseExchange sparse(comm, tag);
  SparseExchange::Sums sums{};
  const SparseExchange::Box& inbox = sparse.run(std::move(box), sums, sizeof(Bytes));
  std::vector<Partner> sources;
  for (const auto& item : inbox.items)
    sources.push_back({item.partner, values_in<Bytes>(inbox.of(item)).at(0)});
  return sources;
}

constexpr DiscoveryWay ways[] = {{"gather", by_gather},
                                 {"count", by_count},
                                 {"consensus", by_consensus},
                                 {"am_count", nullptr},
                                 {"am_quiesce", nullptr}};

/// Checks that all ranks name the same method, and returns it.
const DiscoveryWay& agreed_way(const Communicator& comm, std::string_view mine) {
  std::array<char, 32> first{};
  std::ranges::copy(mine.substr(0, first.size() - 1), first.begin());
  broadcast(comm, first.data(), static_cast<int>(first.size()), MPI_CHAR, 0);
  const DiscoveryWay* way = nullptr;
  all_or_none(comm, [&] {
    // Counting was the fastest method for all tested numbers of ranks (docs/explanation/results.md).
    way = &find_discovery(mine != "auto"                           ? mine
                          : comm.num_ranks() <= most_ranks_counted ? "count"
                                                                   : "consensus");
    if (way->ask == nullptr)
      throw Error(ErrorCode::not_applicable,
                  "discovery " + std::string(mine) + " uses active messages: call drs::mpi::World::sources");
    if (mine != first.data())
      throw Error(ErrorCode::mismatch, "the discovery methods differ: " + std::string(first.data()) +
                                           " on rank 0, " + std::string(mine) + " on rank " +
                                           std::to_string(comm.rank()));
  });
  return *way;
}

}  // namespace

std::vector<std::string_view> discovery_ways() {
  std::vector<std::string_view> names;
  for (const DiscoveryWay& way : ways) names.push_back(way.name);
  return names;
}

const DiscoveryWay& find_discovery(std::string_view name) {
  return core::require_row(ways, "discovery method", name, ", auto");
}

std::vector<Partner> sources_of(const Communicator& comm, std::span<const Partner> destinations,
                                const DiscoveryWay& way, int tag) {
  std::vector<Partner> row;
  std::ranges::copy_if(destinations, std::back_inserter(row), [](const Partner& to) { return to.bytes > 0; });
  std::vector<Partner> sources = way.ask(comm, row, tag);
  std::ranges::sort(sources, {}, &Partner::rank);
  return sources;
}

struct Discoverer::State {
  explicit State(MPI_Comm parent) : comm(parent, 0) {}
  Communicator comm;
  int tag = 0;
};

Discoverer::Discoverer(MPI_Comm parent) : state_(std::make_unique<State>(parent)) {}
Discoverer::Discoverer(Discoverer&&) noexcept = default;
Discoverer& Discoverer::operator=(Discoverer&&) noexcept = default;
Discoverer::~Discoverer() = default;

std::vector<Partner> Discoverer::sources(std::span<const Partner> destinations, std::string_view way) {
  const Communicator& comm = state_->comm;
  const DiscoveryWay& agreed = agreed_way(comm, way);
  all_or_none(comm, [&] { core::check_partners({comm.rank(), true}, comm.num_ranks(), destinations); });
  state_->tag = 1 - state_->tag;
  return sources_of(comm, destinations, agreed, state_->tag);
}

std::vector<Partner> discover(MPI_Comm comm, std::span<const Partner> destinations, std::string_view way) {
  return Discoverer(comm).sources(destinations, way);
}

}  // namespace nuice::mpi
