// SPDX-License-Identifier: BSD-3-Clause
#include "halo/directory.hpp"

#include <algorithm>
#include <string>

#include "halo/lists.hpp"
#include "mpi/agree.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice::mpi {
namespace {

struct Registration {
  GlobalIndex index;
  Rank owner;
};

Rank registrar(GlobalIndex index, Rank num_ranks) {
  return static_cast<Rank>(mix64(static_cast<std::uint64_t>(index)) % static_cast<std::uint64_t>(num_ranks));
}

Lists group_by_registrar(std::span<const GlobalIndex> indices, Rank num_ranks) {
  std::vector<Rank> ranks;
  ranks.reserve(indices.size());
  for (const GlobalIndex index : indices) ranks.push_back(registrar(index, num_ranks));
  return group(ranks, indices);
}

/// Returns the registrations by ascending index. Throws Error if two ranks own an index.
std::vector<Registration> sorted_registrations(const Lists& incoming) {
  std::vector<Registration> all;
  all.reserve(incoming.values.size());
  for (std::size_t p = 0; p < incoming.num_partners(); ++p)
    for (const GlobalIndex index : incoming.list(p)) all.push_back({index, incoming.ranks[p]});
  std::ranges::stable_sort(all, {}, &Registration::index);
  const auto twice = std::ranges::adjacent_find(all, {}, &Registration::index);
  if (twice != all.end())
    throw Error(ErrorCode::invalid_argument, "global index " + std::to_string(twice->index) +
                                                 " is owned by rank " + std::to_string(twice->owner) +
                                                 " and by rank " + std::to_string((twice + 1)->owner));
  return all;
}

Rank look_up(const std::vector<Registration>& all, GlobalIndex index) {
  const auto at = std::ranges::lower_bound(all, index, {}, &Registration::index);
  return at != all.end() && at->index == index ? at->owner : no_rank;
}

}  // namespace

std::vector<Rank> find_in_directory(const Communicator& comm, std::span<const GlobalIndex> owned,
                                    std::span<const GlobalIndex> wanted) {
  Lists registered;
  Lists questions;
  all_or_none(comm, [&] {
    registered = group_by_registrar(owned, comm.num_ranks());
    questions = group_by_registrar(wanted, comm.num_ranks());
  });
  registered = exchange_lists(comm, registered);
  Lists answers = exchange_lists(comm, questions);  // the questions to this rank, answered in place
  all_or_none(comm, [&] {
    const std::vector<Registration> all = sorted_registrations(registered);
    for (std::int64_t& value : answers.values) value = look_up(all, value);
  });
  answers = exchange_lists(comm, answers);

  std::vector<Rank> owners;
  all_or_none(comm, [&] {
    // Answers come by ascending registrar, as the questions were sent. The answers of one registrar are in
    // the order of the questions to it.
    std::vector<std::size_t> next(static_cast<std::size_t>(comm.num_ranks()), 0);
    for (std::size_t p = 0; p < answers.num_partners(); ++p)
      next[static_cast<std::size_t>(answers.ranks[p])] = answers.begin[p];
    for (const GlobalIndex index : wanted)
      owners.push_back(static_cast<Rank>(
          answers.values[next[static_cast<std::size_t>(registrar(index, comm.num_ranks()))]++]));
  });
  return owners;
}

}  // namespace nuice::mpi
