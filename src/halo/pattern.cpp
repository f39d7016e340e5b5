// SPDX-License-Identifier: BSD-3-Clause
// The inspector, in three steps:
//
// * ghosts = distinct needed indices that are not owned here, by owner (owner_finder.hpp finds the owners)
// * requests: a rank sends each owner the indices of the ghosts that belong to the owner. A plan finds the
//   sources
// * needers = the ranks whose requests have come, with their requests as local indices
#include "halo/pattern.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "core/text/names.hpp"
#include "halo/owner_finder.hpp"
#include "mpi/agree.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

void require_local_index(std::uint64_t num_entries, Rank rank) {
  if (num_entries <= static_cast<std::uint64_t>(std::numeric_limits<LocalIndex>::max())) return;
  throw Error(ErrorCode::limit, rank_name(rank) + " has " + std::to_string(num_entries) +
                                    " entries, owned and ghosts; 2^31 - 1 is the most");
}

void add_owned(Pattern& pattern, const OwnedIndices& owned) {
  pattern.num_owned = static_cast<LocalIndex>(owned.count);
  if (owned.list.empty()) {
    pattern.first_owned = owned.first;
    return;
  }
  pattern.places.reserve(owned.list.size());
  for (const GlobalIndex index : owned.list)
    pattern.places.push_back({index, static_cast<LocalIndex>(pattern.places.size())});
  if (!std::ranges::is_sorted(owned.list)) std::ranges::sort(pattern.places, {}, &Pattern::Place::index);
}

/// Returns the needed indices that have no place yet. They are ascending, and each occurs once.
std::vector<GlobalIndex> foreign(const Pattern& pattern, std::span<const GlobalIndex> needed) {
  std::vector<GlobalIndex> indices(needed.begin(), needed.end());
  std::ranges::sort(indices);
  const auto repeats = std::ranges::unique(indices);
  indices.erase(repeats.begin(), repeats.end());
  std::erase_if(indices, [&](GlobalIndex index) { return pattern.find(index) >= 0; });
  return indices;
}

void add_ghosts(Pattern& pattern, Lists requests) {
  pattern.owners.ranks = std::move(requests.ranks);
  pattern.owners.begin = std::move(requests.begin);
  pattern.ghosts = std::move(requests.values);
  pattern.owners.values.resize(pattern.ghosts.size());
  std::iota(pattern.owners.values.begin(), pattern.owners.values.end(), pattern.num_owned);
  for (std::size_t k = 0; k < pattern.ghosts.size(); ++k)
    pattern.places.push_back({pattern.ghosts[k], pattern.owners.values[k]});
  std::ranges::sort(pattern.places, {}, &Pattern::Place::index);
}

/// Converts requests to local indices. If this rank does not own a requested index, two ranks' owner
/// functions differ.
EntryLists to_local(const Pattern& pattern, const Lists& requests, Rank rank) {
  EntryLists needers{.ranks = requests.ranks, .begin = requests.begin, .values = {}};
  needers.values.reserve(requests.values.size());
  for (std::size_t p = 0; p < requests.num_partners(); ++p)
    for (const GlobalIndex index : requests.list(p)) {
      const LocalIndex local = pattern.find(index);
      if (local < 0 || local >= pattern.num_owned)
        throw Error(ErrorCode::mismatch, rank_name(requests.ranks[p]) + " needs global index " +
                                             std::to_string(index) + " from rank " + std::to_string(rank) +
                                             ", which does not own it");
      needers.values.push_back(local);
    }
  return needers;
}

}  // namespace

LocalIndex Pattern::find(GlobalIndex index) const {
  if (first_owned) {
    // The place is unsigned, as in owned(), so an index before the first one becomes a very large place.
    const auto place = static_cast<std::uint64_t>(index) - static_cast<std::uint64_t>(*first_owned);
    if (place < static_cast<std::uint64_t>(num_owned)) return static_cast<LocalIndex>(place);
  }
  const auto at = std::ranges::lower_bound(places, index, {}, &Place::index);
  return at != places.end() && at->index == index ? at->local : -1;
}

Pattern inspect(const Communicator& comm, const Ownership& ownership, std::span<const GlobalIndex> needed,
                Bytes entry_bytes, const PlanOptions& options, std::optional<Plan>& requests) {
  OwnerFinder finder(comm, ownership);
  Pattern pattern;
  std::vector<GlobalIndex> wanted;
  all_or_none(comm, [&] {
    const OwnedIndices owned = finder.owned();
    require_local_index(owned.count, comm.rank());
    add_owned(pattern, owned);
    wanted = foreign(pattern, needed);
    require_local_index(owned.count + wanted.size(), comm.rank());
  });
  const std::vector<Rank> owners = finder.owners(wanted);
  Lists outgoing;
  all_or_none(comm, [&] { outgoing = group(owners, wanted); });
  requests.emplace(plan_for(comm, outgoing, entry_bytes, options));
  const Lists incoming = exchange_lists(comm, *requests, entry_bytes, outgoing);
  all_or_none(comm, [&] {
    pattern.needers = to_local(pattern, incoming, comm.rank());
    add_ghosts(pattern, std::move(outgoing));
  });
  return pattern;
}

}  // namespace nuice::mpi
