// SPDX-License-Identifier: BSD-3-Clause
// Binds fields to plans. All that an exchange needs is allocated here.
#include <string>

#include "halo/halo_state.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

template <typename Field>
Bytes sum_of_entry_bytes(std::span<const Field> fields) {
  Bytes sum = 0;
  for (const Field& field : fields) sum += field.entry_bytes;
  return sum;
}

}  // namespace

void Halo::State::require_same_size(Bytes entry_bytes) const {
  Bytes first = entry_bytes;
  broadcast(*comm, &first, 1, MPI_INT64_T, 0);
  all_or_none(*comm, [&] {
    if (first != entry_bytes)
      throw Error(ErrorCode::mismatch, "bytes per entry differ: " + std::to_string(first) + " on rank 0, " +
                                           std::to_string(entry_bytes) + " on rank " +
                                           std::to_string(comm->rank()));
  });
}

HaloPlan& Halo::State::plan(Bytes entry_bytes) {
  if (const auto found = plans.find(entry_bytes); found != plans.end()) return found->second;
  const EntryLists& needers = pattern->needers;
  std::vector<Partner> row;
  all_or_none(*comm, [&] {
    for (std::size_t p = 0; p < needers.num_partners(); ++p)
      row.push_back({needers.ranks[p], static_cast<Bytes>(needers.list(p).size()) * entry_bytes});
  });
  return plans.try_emplace(entry_bytes, HaloPlan{Plan(comm->get(), row, options), false}).first->second;
}

template <typename Field, typename Move>
std::unique_ptr<HaloExchange::State> Halo::State::bind(std::span<const Field> fields, bool scatter,
                                                       Move&& move) {
  all_or_none(*comm, [&] { check_fields(*pattern, fields, comm->rank()); });
  const Bytes entry_bytes = sum_of_entry_bytes(fields);
  require_same_size(entry_bytes);
  HaloPlan& planned = plan(entry_bytes);
  std::unique_ptr<HaloExchange::State> bound;
  all_or_none(*comm, [&] {
    bound = std::make_unique<HaloExchange::State>();
    bound->pattern = pattern;
    bound->info = planned.plan.info();
    bound->movement = move(*pattern, fields);
  });
  bound->exchange.emplace(planned.bind(bound->movement, scatter));
  return bound;
}

HaloExchange Halo::bind_gather(std::span<const GatherField> fields) {
  return HaloExchange(state().bind(fields, false, move_to_ghosts));
}

HaloExchange Halo::bind_scatter(std::span<const ScatterField> fields) {
  return HaloExchange(state().bind(fields, true, move_to_owners));
}

}  // namespace nuice::mpi
