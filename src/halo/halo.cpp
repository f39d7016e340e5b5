// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/mpi/halo.hpp"

#include <numeric>
#include <string>

#include "halo/halo_state.hpp"
#include "mpi/agree.hpp"
#include "mpi/gather.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

std::vector<HaloPartner> partners_of(const EntryLists& lists) {
  std::vector<HaloPartner> partners;
  for (std::size_t p = 0; p < lists.num_partners(); ++p) partners.push_back({lists.ranks[p], lists.list(p)});
  return partners;
}

}  // namespace

Halo::Halo(MPI_Comm parent, const Ownership& ownership, std::span<const GlobalIndex> needed,
           const PlanOptions& options)
    : state_(std::make_unique<State>()) {
  state_->comm = std::make_shared<const Communicator>(parent, options.watchdog_s);
  state_->options = options;
  std::optional<Plan> requests;
  state_->pattern =
      std::make_shared<const Pattern>(inspect(*state_->comm, ownership, needed, options, requests));
  // The requests are a scatter of indices, so that their plan serves values of as many bytes in both directions. But what
  // keeps links free one way need not do so on the way back, so with a network the gather is what is planned.
  if (options.topology.empty())
    state_->plans.try_emplace(Bytes{sizeof(GlobalIndex)}, HaloPlan{std::move(*requests), true});
}

Halo::Halo(Halo&&) noexcept = default;
Halo& Halo::operator=(Halo&&) noexcept = default;
Halo::~Halo() = default;

Halo::State& Halo::state() const {
  if (!state_) throw Error(ErrorCode::state, "the halo was moved from");
  return *state_;
}

LocalIndex Halo::num_owned() const { return state().pattern->num_owned; }
LocalIndex Halo::num_ghosts() const { return static_cast<LocalIndex>(state().pattern->ghosts.size()); }
std::size_t Halo::num_entries() const {
  return static_cast<std::size_t>(num_owned()) + static_cast<std::size_t>(num_ghosts());
}
std::span<const GlobalIndex> Halo::ghosts() const { return state().pattern->ghosts; }
std::vector<HaloPartner> Halo::owners() const { return partners_of(state().pattern->owners); }
std::vector<HaloPartner> Halo::needers() const { return partners_of(state().pattern->needers); }

LocalIndex Halo::local_index(GlobalIndex index) const {
  const LocalIndex local = state().pattern->find(index);
  if (local < 0)
    throw Error(ErrorCode::invalid_argument, "global index " + std::to_string(index) +
                                                 " is neither owned by nor a ghost of rank " +
                                                 std::to_string(state().comm->rank()));
  return local;
}

CommMatrix Halo::matrix(Bytes entry_bytes) const {
  const EntryLists& needers = state().pattern->needers;
  std::vector<Partner> row;
  all_or_none(*state().comm, [&] {
    for (std::size_t p = 0; p < needers.num_partners(); ++p)
      row.push_back({needers.ranks[p], static_cast<Bytes>(needers.list(p).size()) * entry_bytes});
  });
  return gather_matrix(*state().comm, row);
}

}  // namespace nuice::mpi
