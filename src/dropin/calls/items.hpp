// SPDX-License-Identifier: BSD-3-Clause
// What a rank sends and receives in a collective call, from the call's arguments.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <optional>

#include "dropin/replace.hpp"
#include "run/mpi.hpp"

namespace nuice::dropin {

using run::Neighbours;
using run::ranks_in;
using run::size_of;

inline std::byte* moved(const void* base, std::int64_t bytes) {
  return static_cast<std::byte*>(const_cast<void*>(base)) + bytes;
}

inline std::int64_t extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

/// in_place: what is sent is what stands where something is received.
inline Items in_both_ways(bool in_place, std::vector<Item> out, std::vector<Item> in) {
  if (in_place) out = in;
  return {std::move(out), std::move(in), in_place};
}

/// Whether MPI takes these arguments: it is asked to send them to nobody. What it refuses is left to it,
/// and so is the complaint.
inline bool is_taken(const void* at, std::int64_t count, MPI_Datatype type) {
  return count >= 0 && at != MPI_IN_PLACE && background().takes(at, count > 0 ? 1 : 0, type);
}
inline bool are_taken(int partners, const void* at, const int* counts, const void* displacements,
                      MPI_Datatype type) {
  if (partners == 0) return true;
  if (counts == nullptr || displacements == nullptr) return false;
  const bool any = std::any_of(counts, counts + partners, [](int count) { return count > 0; });
  return std::all_of(counts, counts + partners, [](int count) { return count >= 0; }) &&
         is_taken(at, any ? 1 : 0, type);
}
inline bool are_typed_taken(int partners, const void* at, const int* counts, const void* displacements,
                            const MPI_Datatype* types) {
  if (partners == 0) return true;
  if (counts == nullptr || displacements == nullptr || types == nullptr) return false;
  for (int i = 0; i < partners; ++i)
    if (!is_taken(at, counts[i], types[i])) return false;
  return true;
}

inline std::int64_t block_bytes(bool in_place, std::int64_t send_count, MPI_Datatype send_type,
                                std::int64_t receive_count, MPI_Datatype receive_type) {
  return in_place ? receive_count * size_of(receive_type) : send_count * size_of(send_type);
}

inline std::vector<Item> equal_items(int ranks, const void* base, int count, MPI_Datatype type) {
  std::vector<Item> items;
  const std::int64_t step = count * extent_of(type);
  for (int i = 0; i < ranks; ++i) items.push_back({i, moved(base, i * step), count, type});
  return items;
}

inline std::vector<Item> vector_items(int ranks, const void* base, const int* counts,
                                      const int* displacements, MPI_Datatype type) {
  std::vector<Item> items;
  const std::int64_t extent = extent_of(type);
  for (int i = 0; i < ranks; ++i)
    if (counts[i] != 0) items.push_back({i, moved(base, displacements[i] * extent), counts[i], type});
  return items;
}

inline std::vector<Item> typed_items(int ranks, const void* base, const int* counts, const int* displacements,
                                     const MPI_Datatype* types) {
  std::vector<Item> items;
  for (int i = 0; i < ranks; ++i)
    if (counts[i] != 0) items.push_back({i, moved(base, displacements[i]), counts[i], types[i]});
  return items;
}

// What becomes of a call: act(comm, base, block_bytes, items), items() being this rank's part, or none
// where MPI would refuse it; of a neighbourhood items(neighbours).

template <typename Mpi>
auto blocking(const char* call, Mpi& mpi) {
  return [call, &mpi](MPI_Comm comm, void*, std::int64_t block_bytes, auto&& items) {
    return replacer().run(call, comm, block_bytes, items, mpi);
  };
}
template <typename Mpi>
auto blocking_neighbours(const char* call, Mpi& mpi) {
  return [call, &mpi](MPI_Comm comm, void*, std::int64_t block_bytes, auto&& items) {
    return replacer().run_neighbours(call, comm, block_bytes, items, mpi);
  };
}
template <typename How>
auto begun(How& how) {
  return [&how](MPI_Comm comm, void* base, std::int64_t block_bytes, auto&& items) {
    return replacer().post(comm, base, block_bytes, items, how);
  };
}
template <typename How>
auto begun_neighbours(How& how) {
  return [&how](MPI_Comm comm, void* base, std::int64_t block_bytes, auto&& items) {
    return replacer().post_neighbours(comm, base, block_bytes, items, how);
  };
}

// The three calls. in_place: nothing is looked at that describes what is sent, as MPI says.

template <typename Act>
int with_alltoall(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, MPI_Comm comm,
                  Act&& act) {
  const bool in_place = sb == MPI_IN_PLACE;
  const bool is_sound = is_taken(rb, rc, rt) && (in_place || is_taken(sb, sc, st));
  const auto items = [&]() -> std::optional<Items> {
    if (!is_sound) return std::nullopt;
    const int n = ranks_in(comm);
    return in_both_ways(in_place, in_place ? std::vector<Item>() : equal_items(n, sb, sc, st),
                        equal_items(n, rb, rc, rt));
  };
  return act(comm, rb, is_sound ? block_bytes(in_place, sc, st, rc, rt) : 0, items);
}

template <typename Act>
int with_alltoallv(const void* sb, const int* scs, const int* sds, MPI_Datatype st, void* rb, const int* rcs,
                   const int* rds, MPI_Datatype rt, MPI_Comm comm, Act&& act) {
  const bool in_place = sb == MPI_IN_PLACE;
  const auto items = [&]() -> std::optional<Items> {
    const int n = ranks_in(comm);
    if (!are_taken(n, rb, rcs, rds, rt) || !(in_place || are_taken(n, sb, scs, sds, st))) return std::nullopt;
    return in_both_ways(in_place, in_place ? std::vector<Item>() : vector_items(n, sb, scs, sds, st),
                        vector_items(n, rb, rcs, rds, rt));
  };
  return act(comm, rb, std::int64_t{-1}, items);
}

template <typename Act>
int with_alltoallw(const void* sb, const int* scs, const int* sds, const MPI_Datatype* sts, void* rb,
                   const int* rcs, const int* rds, const MPI_Datatype* rts, MPI_Comm comm, Act&& act) {
  const bool in_place = sb == MPI_IN_PLACE;
  const auto items = [&]() -> std::optional<Items> {
    const int n = ranks_in(comm);
    if (!are_typed_taken(n, rb, rcs, rds, rts) || !(in_place || are_typed_taken(n, sb, scs, sds, sts)))
      return std::nullopt;
    return in_both_ways(in_place, in_place ? std::vector<Item>() : typed_items(n, sb, scs, sds, sts),
                        typed_items(n, rb, rcs, rds, rts));
  };
  return act(comm, rb, std::int64_t{-1}, items);
}

// The neighbourhoods' calls. What is at place i goes to the i-th destination, or comes from the i-th source.

/// item(place, rank)
template <typename GetItem>
std::vector<Item> items_to(const Neighbours& neighbours, GetItem&& item) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < neighbours.destinations.size(); ++i)
    if (const int rank = neighbours.destinations[i]; rank >= 0) items.push_back(item(i, rank));
  return items;
}
template <typename GetItem>
std::vector<Item> items_from(const Neighbours& neighbours, GetItem&& item) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < neighbours.sources.size(); ++i) {
    const std::size_t place = neighbours.incoming(i);
    if (const int rank = neighbours.sources[place]; rank >= 0) items.push_back(item(place, rank));
  }
  return items;
}
inline int num_sources(const Neighbours& neighbours) { return static_cast<int>(neighbours.sources.size()); }
inline int num_destinations(const Neighbours& neighbours) {
  return static_cast<int>(neighbours.destinations.size());
}

/// The bytes of a block are no ground for a choice: a rank that sends to nobody may say none.
template <typename Act>
int with_neighbor_alltoall(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt,
                           MPI_Comm comm, Act&& act) {
  const auto block = [](const void* base, int count, MPI_Datatype type) {
    const std::int64_t step = count * extent_of(type);
    return [=](std::size_t i, int rank) {
      return Item{rank, moved(base, static_cast<std::int64_t>(i) * step), count, type};
    };
  };
  const auto items = [&](const Neighbours& neighbours) -> std::optional<Items> {
    if (!is_taken(sb, sc, st) || !is_taken(rb, rc, rt)) return std::nullopt;
    return Items{items_to(neighbours, block(sb, sc, st)), items_from(neighbours, block(rb, rc, rt))};
  };
  return act(comm, rb, std::int64_t{-1}, items);
}

template <typename Act>
int with_neighbor_alltoallv(const void* sb, const int* scs, const int* sds, MPI_Datatype st, void* rb,
                            const int* rcs, const int* rds, MPI_Datatype rt, MPI_Comm comm, Act&& act) {
  const auto part = [](const void* base, const int* counts, const int* displacements, MPI_Datatype type) {
    const std::int64_t extent = extent_of(type);
    return [=](std::size_t i, int rank) {
      return Item{rank, moved(base, displacements[i] * extent), counts[i], type};
    };
  };
  const auto items = [&](const Neighbours& neighbours) -> std::optional<Items> {
    if (!are_taken(num_destinations(neighbours), sb, scs, sds, st) ||
        !are_taken(num_sources(neighbours), rb, rcs, rds, rt))
      return std::nullopt;
    return Items{items_to(neighbours, part(sb, scs, sds, st)),
                 items_from(neighbours, part(rb, rcs, rds, rt))};
  };
  return act(comm, rb, std::int64_t{-1}, items);
}

template <typename Act>
int with_neighbor_alltoallw(const void* sb, const int* scs, const MPI_Aint* sds, const MPI_Datatype* sts,
                            void* rb, const int* rcs, const MPI_Aint* rds, const MPI_Datatype* rts,
                            MPI_Comm comm, Act&& act) {
  const auto items = [&](const Neighbours& neighbours) -> std::optional<Items> {
    if (!are_typed_taken(num_destinations(neighbours), sb, scs, sds, sts) ||
        !are_typed_taken(num_sources(neighbours), rb, rcs, rds, rts))
      return std::nullopt;
    return Items{
        items_to(neighbours,
                 [&](std::size_t i, int rank) { return Item{rank, moved(sb, sds[i]), scs[i], sts[i]}; }),
        items_from(neighbours,
                   [&](std::size_t i, int rank) { return Item{rank, moved(rb, rds[i]), rcs[i], rts[i]}; })};
  };
  return act(comm, rb, std::int64_t{-1}, items);
}

}  // namespace nuice::dropin
