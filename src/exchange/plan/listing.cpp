// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/listing.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/text/names.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/discover/raw_values.hpp"
#include "mpi/discover/sparse.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Returns the sizes of the listed parts with bytes, by destination.
std::map<Rank, std::vector<Bytes>> parts_of(std::span<const Partner> listed) {
  std::map<Rank, std::vector<Bytes>> parts;
  for (const auto& [rank, bytes] : listed)
    if (bytes > 0) parts[rank].push_back(bytes);
  return parts;
}

}  // namespace

std::vector<Partner> merged(Rank rank, std::span<const Partner> listed) {
  std::vector<Partner> result;
  std::map<Rank, std::size_t> places;
  for (const Partner& partner : listed) {
    const auto [at, is_first] = places.try_emplace(partner.rank, result.size());
    if (is_first) {
      result.push_back(partner);
      continue;
    }
    Bytes& sum = result[at->second].bytes;
    if (partner.bytes > max_bytes - sum)
      throw Error(ErrorCode::limit,
                  pair_name(rank, partner.rank) + ": listed several times, with more than 2^62 bytes in all");
    sum += partner.bytes;
  }
  return result;
}

std::size_t most_listing_bytes(const Communicator& comm, std::span<const Partner> listed) {
  std::int64_t most_parts = 0;
  for (const auto& [rank, parts] : parts_of(listed))
    most_parts = std::max(most_parts, static_cast<std::int64_t>(parts.size()));
  all_reduce(comm, MPI_IN_PLACE, &most_parts, 1, MPI_INT64_T, MPI_MAX);
  return most_parts > 1 ? static_cast<std::size_t>(most_parts) * sizeof(Bytes) : 0;
}

std::vector<Partner> listed_sources(TagSpace& tags, std::span<const Partner> listed,
                                    std::span<const Partner> sources, std::size_t most_bytes) {
  const TagSpace own = tags.take();
  const Communicator& comm = *own.comm;
  SparseExchange sparse(comm, own.next);
  SparseExchange::Box box;
  std::map<Rank, std::vector<Bytes>> parts;
  all_or_none(comm, [&] {
    parts = parts_of(listed);
    for (const auto& [rank, sizes] : parts)
      if (rank != comm.rank() && sizes.size() > 1) box.add(rank, std::as_bytes(std::span(sizes)));
  });
  SparseExchange::Sums sums{};
  const SparseExchange::Box& inbox = sparse.run(std::move(box), sums, most_bytes);
  std::vector<Partner> all;
  all_or_none(comm, [&] {
    std::map<Rank, std::vector<Bytes>> from;
    if (const auto self = parts.find(comm.rank()); self != parts.end()) from.insert(*self);
    for (const auto& item : inbox.items) from[item.partner] = values_in<Bytes>(inbox.of(item));
    for (const Partner& source : sources) {
      const auto told = from.find(source.rank);
      if (told == from.end()) {
        all.push_back(source);
      } else {
        for (const Bytes bytes : told->second) all.push_back({source.rank, bytes});
      }
    }
  });
  return all;
}

}  // namespace nuice::mpi
