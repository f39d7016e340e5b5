// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/mpi/halo.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "core/text/names.hpp"
#include "exchange/plan/plan_group.hpp"
#include "halo/halo_state.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/discover/gather.hpp"
#include "mpi/share.hpp"
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
           const PlanOptions& options, Bytes entry_bytes)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.comm = PlanGroup::communicator_for_halo(parent, options.watchdog_s);
  mpi::agree(*state.comm, options.fault);
  state.require_same_size(entry_bytes);
  state.pattern = std::make_shared<const Pattern>(
      inspect(*state.comm, ownership, needed, entry_bytes, options, state.plan));
  // The requests for ghosts are a scatter of indices, so their plan can carry values in both directions. But
  // a schedule that keeps links free in one direction may share links in the other direction. If a network is
  // named, the gather is therefore planned separately.
  if (options.topology.empty()) {
    state.once_per_host = OncePerHost::of(*state.comm, *state.pattern, options, entry_bytes);
    return;
  }
  state.plan.emplace(plan_for(*state.comm, state.pattern->needers, entry_bytes, options));
  state.plan_is_of_scatter = false;
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
                                                 " is neither owned by nor a ghost of " +
                                                 rank_name(state().comm->rank()));
  return local;
}

CommMatrix Halo::matrix(Bytes entry_bytes) const {
  std::vector<Partner> row;
  all_or_none(*state().comm, [&] { row = state().pattern->needers.messages(entry_bytes); });
  return gather_matrix(*state().comm, row);
}

void Halo::agree(const Outcome& wrong, std::int64_t value, const std::string& what) const {
  const Communicator& comm = *state().comm;
  std::array<std::int64_t, 3> least = {wrong ? 0 : 1, value, -value};
  all_reduce(comm, MPI_IN_PLACE, least.data(), 3, MPI_INT64_T, MPI_MIN);
  if (least[0] == 0)
    all_or_none(comm, [&] {
      if (wrong) throw Error(wrong->code(), rank_name(comm.rank()) + ": " + wrong->what());
    });
  if (least[1] != -least[2]) throw Error(ErrorCode::mismatch, what + " differ between the ranks");
}

void Halo::refuse(const Error& why) const {
  const Communicator& comm = *state().comm;
  const Error named(why.code(), rank_name(comm.rank()) + ": " + why.what());
  mpi::agree(comm, named);  // matches check_fields() of the other ranks
  throw Error(named);
}

void Halo::State::require_same_size(Bytes entry_bytes) const {
  Bytes first = entry_bytes;
  share_from_rank_0(*comm, first);
  all_or_none(*comm, [&] {
    if (entry_bytes < 1)
      throw Error(ErrorCode::invalid_argument,
                  rank_name(comm->rank()) + ": an entry has " + std::to_string(entry_bytes) + " bytes");
    if (first != entry_bytes)
      throw Error(ErrorCode::mismatch, "bytes per entry differ: " + std::to_string(first) + " on rank 0, " +
                                           std::to_string(entry_bytes) + " on " + rank_name(comm->rank()));
  });
}

/// Values may be sent once per host only if they lie on the host on all ranks. Contributions may be combined
/// on the carrier only if their order does not matter.
template <typename Field>
bool Halo::State::shares_with(std::span<const Field> fields) const {
  if (!once_per_host) return false;
  std::int32_t all = any_on_device(fields) ? 0 : 1;
  if constexpr (std::is_same_v<Field, ScatterField>)
    for (const Field& field : fields) all = std::min<std::int32_t>(all, field.any_order ? 1 : 0);
  all_reduce(*comm, MPI_IN_PLACE, &all, 1, MPI_INT32_T, MPI_MIN);
  return all == 1;
}

template <typename Field>
std::unique_ptr<HaloExchange::State> Halo::State::bind(std::span<const Field> fields) {
  constexpr bool is_scatter = std::is_same_v<Field, ScatterField>;
  require_running(is_scatter ? "bind_scatter()" : "bind_gather()");
  all_or_none(*comm, [&] { check_fields(*pattern, fields, comm->rank()); });
  Bytes entry_bytes = 0;
  for (const Field& field : fields)
    entry_bytes += static_cast<Bytes>(wire_bytes(field.wire, field.entry_bytes));
  require_same_size(entry_bytes);
  const bool shares = shares_with(fields);
  std::unique_ptr<HaloExchange::State> bound;
  std::vector<FieldBytes> bytes;
  std::vector<SendField> send;
  std::vector<ReceiveField> receive;
  all_or_none(*comm, [&] {
    bound = std::make_unique<HaloExchange::State>();
    bound->pattern = pattern;
    bound->info = plan->info();
    if (shares) return;
    bound->on_device = DeviceMovement::of(*pattern, fields, bytes, comm->rank());
    if (!bound->on_device) bound->movement = movement_of(*pattern, fields, bytes);
    std::byte* const messages =
        bound->on_device ? bound->on_device->messages() : bound->movement.messages.data();
    const auto ghosts_of = [&](std::size_t f) {
      return bound->on_device ? bound->on_device->travelling(f, fields[f].ghosts)
                              : travelling(bound->movement, f, fields[f].ghosts);
    };
    for (std::size_t f = 0; f < fields.size(); ++f) {
      bound->wire_roundoff = std::max(bound->wire_roundoff, unit_roundoff(fields[f].wire));
      const auto& [with_needers, offsets, with_owners] = bytes[f];
      if constexpr (is_scatter) {
        send.push_back({ghosts_of(f), MPI_BYTE, with_owners, {}});
        receive.push_back({messages, MPI_BYTE, with_needers, offsets});
      } else {
        send.push_back({messages, MPI_BYTE, with_needers, offsets});
        receive.push_back({ghosts_of(f), MPI_BYTE, with_owners, {}});
      }
    }
  });
  if (shares) {
    bound->shared = once_per_host;
    bound->both = once_per_host->bind(fields);
    const Crossing& crossing = once_per_host->crossing();
    bound->info = (is_scatter ? bound->both->second : bound->both->first)->info();
    bound->info.spared_bytes = (crossing.every_time - crossing.once_per_host) * entry_bytes;
    for (const Field& field : fields)
      bound->wire_roundoff = std::max(bound->wire_roundoff, unit_roundoff(field.wire));
    return bound;
  }
  bound->exchange.emplace(is_scatter == plan_is_of_scatter ? plan->bind(send, receive)
                                                           : plan->bind(send, receive, Direction::backwards));
  return bound;
}

HaloExchange Halo::bind_gather(std::span<const GatherField> fields) {
  return HaloExchange(state().bind(fields));
}
HaloExchange Halo::bind_scatter(std::span<const ScatterField> fields) {
  return HaloExchange(state().bind(fields));
}

}  // namespace nuice::mpi
