// SPDX-License-Identifier: BSD-3-Clause
// Binds fields to plans. All that an exchange needs is allocated here.
#include <string>

#include "exchange/mpi/agree.hpp"
#include "exchange/mpi/call.hpp"
#include "halo/halo_state.hpp"
#include "nuice/error.hpp"

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
  must(MPI_Bcast(&first, 1, MPI_INT64_T, 0, comm->get()), "MPI_Bcast");
  all_or_none(*comm, [&] {
    if (first != entry_bytes)
      throw Error(ErrorCode::mismatch, "bytes per entry differ: " + std::to_string(first) + " on rank 0, " +
                                           std::to_string(entry_bytes) + " on rank " +
                                           std::to_string(comm->rank()));
  });
}

Plan& Halo::State::plan(std::map<Bytes, Plan>& plans, const EntryLists& destinations, Bytes entry_bytes) {
  if (const auto found = plans.find(entry_bytes); found != plans.end()) return found->second;
  std::vector<Partner> row;
  all_or_none(*comm, [&] {
    for (std::size_t p = 0; p < destinations.num_partners(); ++p)
      row.push_back({destinations.ranks[p], static_cast<Bytes>(destinations.list(p).size()) * entry_bytes});
  });
  return plans.emplace(entry_bytes, Plan(comm->get(), row, options)).first->second;
}

HaloExchange Halo::bind_gather(std::span<const GatherField> fields) {
  State& halo = state();
  const Pattern& pattern = *halo.pattern;
  all_or_none(*halo.comm, [&] { check_fields(pattern, fields, halo.comm->rank()); });
  const Bytes entry_bytes = sum_of_entry_bytes(fields);
  halo.require_same_size(entry_bytes);
  Plan& plan = halo.plan(halo.gathers, pattern.needers, entry_bytes);
  std::unique_ptr<HaloExchange::State> bound;
  all_or_none(*halo.comm, [&] {
    bound = std::make_unique<HaloExchange::State>();
    bound->pattern = halo.pattern;
    bound->info = plan.info();
    bound->movement = move_to_ghosts(pattern, fields);
  });
  bound->exchange.emplace(plan.bind(bound->movement.send, bound->movement.receive));
  return HaloExchange(std::move(bound));
}

HaloExchange Halo::bind_scatter(std::span<const ScatterField> fields) {
  State& halo = state();
  const Pattern& pattern = *halo.pattern;
  all_or_none(*halo.comm, [&] { check_fields(pattern, fields, halo.comm->rank()); });
  const Bytes entry_bytes = sum_of_entry_bytes(fields);
  halo.require_same_size(entry_bytes);
  Plan& plan = halo.plan(halo.scatters, pattern.owners, entry_bytes);
  std::unique_ptr<HaloExchange::State> bound;
  all_or_none(*halo.comm, [&] {
    bound = std::make_unique<HaloExchange::State>();
    bound->pattern = halo.pattern;
    bound->info = plan.info();
    bound->movement = move_to_owners(pattern, fields);
  });
  bound->exchange.emplace(plan.bind(bound->movement.send, bound->movement.receive));
  return HaloExchange(std::move(bound));
}

}  // namespace nuice::mpi
