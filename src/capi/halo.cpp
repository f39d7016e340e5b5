// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/mpi/halo.hpp"

#include <algorithm>
#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "capi/combine.hpp"
#include "capi/guard.hpp"
#include "capi/handles.hpp"

namespace nuice::capi {
namespace {

using mpi::GlobalIndex;
using mpi::Ownership;

template <typename Value>
std::vector<Value> copy(const Value* values, std::int64_t count, const char* name) {
  const auto given = array(values, count, name);
  return {given.begin(), given.end()};
}

/// Creates a halo. ownership_of() makes this rank's ownership. If it throws, the error is reported on all
/// ranks.
template <typename Make>
int create(MPI_Comm comm, Make&& ownership_of, std::int64_t num_needed, const std::int64_t* needed,
           std::int64_t entry_bytes, const char* options, nuice_halo** halo) {
  return guarded_mpi([&] {
    mpi::PlanOptions chosen = options_of(options);
    Ownership ownership = Ownership::list({});
    std::span<const GlobalIndex> indices;
    note(place_in(comm).rank, chosen, [&] {
      at(halo, "halo");
      ownership = ownership_of();
      indices = array(needed, num_needed, "needed");
    });
    *halo = new nuice_halo{mpi::Halo(comm, ownership, indices, chosen, entry_bytes)};
  });
}

/// Returns the size that the data must have, because C does not pass a size. Returns 0 if data is NULL.
std::size_t bytes_behind(const void* data, std::int64_t entries, std::int64_t entry_bytes) {
  return data == nullptr ? 0 : static_cast<std::size_t>(entries * std::max<std::int64_t>(entry_bytes, 0));
}

template <typename Pointer>
Pointer pointer_at(const Pointer* pointers, std::size_t index) {
  return pointers == nullptr ? nullptr : pointers[index];
}

mpi::Wire wire_of(const nuice_halo& halo, std::size_t field) {
  return field < halo.wires.size() ? static_cast<mpi::Wire>(halo.wires[field]) : mpi::Wire::as_is;
}

void require_wires(const nuice_halo& halo) {
  for (const int wire : halo.wires)
    if (wire < NUICE_WIRE_AS_IS || wire > NUICE_WIRE_BFLOAT16)
      throw Error(ErrorCode::invalid_argument,
                  "wire " + std::to_string(wire) +
                      ": one of NUICE_WIRE_AS_IS, NUICE_WIRE_FLOAT32, NUICE_WIRE_BFLOAT16");
}

static_assert(static_cast<int>(mpi::Wire::as_is) == NUICE_WIRE_AS_IS);
static_assert(static_cast<int>(mpi::Wire::float32) == NUICE_WIRE_FLOAT32);
static_assert(static_cast<int>(mpi::Wire::bfloat16) == NUICE_WIRE_BFLOAT16);

}  // namespace
}  // namespace nuice::capi

using namespace nuice::capi;

int nuice_halo_create_ranges(MPI_Comm comm, const int64_t begins[], int64_t num_needed,
                             const int64_t needed[], int64_t entry_bytes, const char* options,
                             nuice_halo** halo) {
  const auto ownership = [&] {
    return nuice::mpi::Ownership::ranges(copy(begins, int64_t{place_in(comm).num_ranks} + 1, "begins"));
  };
  return create(comm, ownership, num_needed, needed, entry_bytes, options, halo);
}

int nuice_halo_create_ranges_f(nuice_fint comm, const int64_t begins[], int64_t num_needed,
                               const int64_t needed[], int64_t entry_bytes, const char* options,
                               nuice_halo** halo) {
  return nuice_halo_create_ranges(comm_of(comm), begins, num_needed, needed, entry_bytes, options, halo);
}

int nuice_halo_create_owners(MPI_Comm comm, int64_t num_indices, const int owners[], int64_t num_needed,
                             const int64_t needed[], int64_t entry_bytes, const char* options,
                             nuice_halo** halo) {
  const auto ownership = [&] { return nuice::mpi::Ownership::array(copy(owners, num_indices, "owners")); };
  return create(comm, ownership, num_needed, needed, entry_bytes, options, halo);
}

int nuice_halo_create_owners_f(nuice_fint comm, int64_t num_indices, const int owners[], int64_t num_needed,
                               const int64_t needed[], int64_t entry_bytes, const char* options,
                               nuice_halo** halo) {
  return nuice_halo_create_owners(comm_of(comm), num_indices, owners, num_needed, needed, entry_bytes,
                                  options, halo);
}

int nuice_halo_create_list(MPI_Comm comm, int64_t num_owned, const int64_t owned[], int64_t num_needed,
                           const int64_t needed[], int64_t entry_bytes, const char* options,
                           nuice_halo** halo) {
  const auto ownership = [&] { return nuice::mpi::Ownership::list(copy(owned, num_owned, "owned")); };
  return create(comm, ownership, num_needed, needed, entry_bytes, options, halo);
}

int nuice_halo_create_list_f(nuice_fint comm, int64_t num_owned, const int64_t owned[], int64_t num_needed,
                             const int64_t needed[], int64_t entry_bytes, const char* options,
                             nuice_halo** halo) {
  return nuice_halo_create_list(comm_of(comm), num_owned, owned, num_needed, needed, entry_bytes, options,
                                halo);
}

int nuice_halo_num_entries(const nuice_halo* halo, int64_t* num_owned, int64_t* num_ghosts) {
  return guarded([&] {
    const nuice::mpi::Halo& held = at(halo, "halo").halo;
    if (num_owned != nullptr) *num_owned = held.num_owned();
    if (num_ghosts != nullptr) *num_ghosts = held.num_ghosts();
  });
}

int nuice_halo_ghosts(const nuice_halo* halo, int64_t ghosts[]) {
  return guarded([&] {
    const auto mine = at(halo, "halo").halo.ghosts();
    if (!mine.empty()) std::ranges::copy(mine, &at(ghosts, "ghosts"));
  });
}

int nuice_halo_local_indices(const nuice_halo* halo, int64_t num_indices, const int64_t globals[],
                             int64_t locals[]) {
  return guarded([&] {
    const nuice::mpi::Halo& held = at(halo, "halo").halo;
    const auto indices = array(globals, num_indices, "globals");
    if (!indices.empty()) at(locals, "locals");
    for (std::size_t j = 0; j < indices.size(); ++j) locals[j] = held.local_index(indices[j]);
  });
}

int nuice_halo_set_wires(nuice_halo* halo, int num_fields, const nuice_wire wires[]) {
  return guarded([&] { at(halo, "halo").wires = copy(wires, num_fields, "wires"); });
}

int nuice_halo_bind_gather(nuice_halo* halo, int num_fields, const void* const owned[], void* const ghosts[],
                           const int64_t entry_bytes[], nuice_exchange** exchange) {
  return guarded_mpi([&] {
    nuice::mpi::Halo& held = at(halo, "halo").halo;
    std::vector<nuice::mpi::GatherField> fields(static_cast<std::size_t>(std::max(num_fields, 0)));
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const int64_t bytes = entry_bytes == nullptr ? 0 : entry_bytes[f];
      const auto* const from = static_cast<const std::byte*>(pointer_at(owned, f));
      auto* const to = static_cast<std::byte*>(pointer_at(ghosts, f));
      fields[f] = {from,  bytes_behind(from, held.num_owned(), bytes),
                   to,    bytes_behind(to, held.num_ghosts(), bytes),
                   bytes, wire_of(*halo, f)};
    }
    check_for_all(held, [&] {
      at(exchange, "exchange");
      require_wires(*halo);
    });
    keep(exchange, held.bind_gather(fields));
  });
}

int nuice_halo_bind_scatter(nuice_halo* halo, int num_fields, const void* const ghosts[], void* const owned[],
                            const int components[], const MPI_Datatype types[], MPI_Op op,
                            nuice_exchange** exchange) {
  return guarded_mpi([&] {
    nuice::mpi::Halo& held = at(halo, "halo").halo;
    std::vector<nuice::mpi::ScatterField> fields(static_cast<std::size_t>(std::max(num_fields, 0)));
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const int width = components == nullptr ? 0 : components[f];
      const bool has_type = types != nullptr && is_mpi_up();
      const auto [value_bytes, is_double, combine] =
          find_combine(has_type ? types[f] : MPI_DATATYPE_NULL, op);
      const int64_t bytes = value_bytes * width;
      const auto* const from = static_cast<const std::byte*>(pointer_at(ghosts, f));
      auto* const to = static_cast<std::byte*>(pointer_at(owned, f));
      fields[f] = {from,
                   bytes_behind(from, held.num_ghosts(), bytes),
                   to,
                   bytes_behind(to, held.num_owned(), bytes),
                   bytes,
                   width,
                   combine,
                   is_double ? wire_of(*halo, f) : nuice::mpi::Wire::as_is,
                   op != MPI_REPLACE};  // MPI_REPLACE keeps the value of the last rank
    }
    check_for_all(held, [&] {
      at(exchange, "exchange");
      require_wires(*halo);
    });
    keep(exchange, held.bind_scatter(fields));
  });
}

int nuice_halo_bind_scatter_f(nuice_halo* halo, int num_fields, const void* const ghosts[],
                              void* const owned[], const int components[], const nuice_fint types[],
                              nuice_fint op, nuice_exchange** exchange) {
  int status = NUICE_OK;
  const int guard = guarded([&] {
    std::vector<MPI_Datatype> mine;
    for (int f = 0; types != nullptr && f < num_fields; ++f) mine.push_back(type_of(types[f]));
    status = nuice_halo_bind_scatter(halo, num_fields, ghosts, owned, components,
                                     types == nullptr ? nullptr : mine.data(), op_of(op), exchange);
  });
  return guard == NUICE_OK ? status : guard;
}

int nuice_halo_agree(nuice_halo* halo, int64_t value, const char* error) {
  return guarded_mpi([&] {
    nuice::Outcome wrong;
    if (error != nullptr) wrong.emplace(nuice::ErrorCode::invalid_argument, error);
    at(halo, "halo").halo.agree(wrong, value, "the arrays given to the halo");
  });
}

int nuice_halo_refuse(nuice_halo* halo, const char* error) {
  return guarded_mpi([&] {
    const nuice::mpi::Halo& held = at(halo, "halo").halo;
    held.refuse({nuice::ErrorCode::invalid_argument, error == nullptr ? "no error was given" : error});
  });
}

int nuice_halo_free(nuice_halo** halo) { return free_own(halo); }
