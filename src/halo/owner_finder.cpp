// SPDX-License-Identifier: BSD-3-Clause
#include "halo/owner_finder.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "core/text/names.hpp"
#include "halo/directory.hpp"
#include "mpi/agree.hpp"
#include "mpi/share.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice::mpi {
namespace {

/// Returns 64 bits that almost certainly differ if the numbers differ.
template <typename Number>
std::uint64_t fingerprint(const std::vector<Number>& numbers) {
  std::uint64_t hash = mix64(numbers.size());
  for (const Number number : numbers) hash = mix64(hash ^ static_cast<std::uint64_t>(number));
  return hash;
}

}  // namespace

std::optional<GlobalIndex> repeated(std::vector<GlobalIndex> indices) {
  std::ranges::sort(indices);
  const auto at = std::ranges::adjacent_find(indices);
  return at == indices.end() ? std::nullopt : std::optional(*at);
}

OwnerFinder::OwnerFinder(const Communicator& comm, const Ownership& ownership)
    : comm_(comm), ownership_(ownership) {
  require_same_kind();
  all_or_none(comm, [&] {
    if (ownership.kind_ == Ownership::Kind::ranges) check_ranges();
    check_owned();
  });
}

/// Every rank has a copy of the ownership's kind and numbers. Checks that all copies are equal. Numbers are
/// compared by a fingerprint.
void OwnerFinder::require_same_kind() const {
  const auto hash = fingerprint(ownership_.begins_) ^ fingerprint(ownership_.owners_);
  const std::array<std::uint64_t, 2> mine = {static_cast<std::uint64_t>(ownership_.kind_), hash};
  std::array<std::uint64_t, 2> first = mine;
  share_from_rank_0(comm_, first);
  all_or_none(comm_, [&] {
    if (first[0] != mine[0])
      throw Error(ErrorCode::mismatch,
                  "rank 0 and " + rank_name(comm_.rank()) + " give different kinds of Ownership");
    if (first[1] != mine[1])
      throw Error(ErrorCode::mismatch, "the ranges or owners given to Ownership differ between rank 0 and " +
                                           rank_name(comm_.rank()));
  });
}

void OwnerFinder::check_ranges() const {
  const std::vector<GlobalIndex>& begins = ownership_.begins_;
  if (begins.size() != static_cast<std::size_t>(comm_.num_ranks()) + 1)
    throw Error(ErrorCode::invalid_argument, "Ownership::ranges has " + std::to_string(begins.size()) +
                                                 " numbers for " + std::to_string(comm_.num_ranks()) +
                                                 " ranks; it needs one more than ranks");
  const auto descent = std::ranges::adjacent_find(begins, std::ranges::greater());
  if (descent != begins.end())
    throw Error(ErrorCode::invalid_argument,
                "the range of " + rank_name(static_cast<Rank>(descent - begins.begin())) + " ends at " +
                    std::to_string(*(descent + 1)) + ", before it begins at " + std::to_string(*descent));
}

void OwnerFinder::check_owned() const {
  const bool listed =
      ownership_.kind_ == Ownership::Kind::function || ownership_.kind_ == Ownership::Kind::list;
  if (!listed) return;
  if (const auto index = repeated(ownership_.owned_))
    throw Error(ErrorCode::invalid_argument, rank_name(comm_.rank()) + " lists global index " +
                                                 std::to_string(*index) + " twice as its own");
  if (ownership_.kind_ != Ownership::Kind::function) return;
  for (const GlobalIndex index : ownership_.owned_)
    if (const Rank by_rule = owner(index); by_rule != comm_.rank())
      throw Error(ErrorCode::mismatch,
                  rank_name(comm_.rank()) + " lists global index " + std::to_string(index) +
                      " as its own, but the owner function says rank " + std::to_string(by_rule));
}

OwnedIndices OwnerFinder::owned() {
  if (ownership_.kind_ == Ownership::Kind::ranges) {
    const auto rank = static_cast<std::size_t>(comm_.rank());
    const GlobalIndex begin = ownership_.begins_[rank];
    const GlobalIndex end = ownership_.begins_[rank + 1];
    // The numbers are unsigned, because the distance of two indices may be too large for a signed integer.
    return {begin, static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin), {}};
  }
  if (ownership_.kind_ == Ownership::Kind::array && listed_.empty())
    for (std::size_t g = 0; g < ownership_.owners_.size(); ++g)
      if (ownership_.owners_[g] == comm_.rank()) listed_.push_back(static_cast<GlobalIndex>(g));
  const std::vector<GlobalIndex>& list =
      ownership_.kind_ == Ownership::Kind::array ? listed_ : ownership_.owned_;
  return {0, list.size(), list};
}

/// Returns the owner of an index by the ranges, the array or the function; not for Kind::list. The result can
/// be an invalid rank, so the caller must check it.
Rank OwnerFinder::owner(GlobalIndex index) const {
  if (ownership_.kind_ == Ownership::Kind::function) return ownership_.owner_(index);
  if (ownership_.kind_ == Ownership::Kind::array) {
    const bool inside = index >= 0 && std::cmp_less(index, ownership_.owners_.size());
    return inside ? ownership_.owners_[static_cast<std::size_t>(index)] : no_rank;
  }
  const std::vector<GlobalIndex>& begins = ownership_.begins_;
  if (index < begins.front() || index >= begins.back()) return no_rank;
  return static_cast<Rank>(std::ranges::upper_bound(begins, index) - begins.begin()) - 1;
}

std::vector<Rank> OwnerFinder::owners(std::span<const GlobalIndex> indices) const {
  std::vector<Rank> found;
  if (ownership_.kind_ == Ownership::Kind::list) {
    found = find_in_directory(comm_, ownership_.owned_, indices);
  } else {
    all_or_none(comm_, [&] {
      for (const GlobalIndex index : indices) found.push_back(owner(index));
    });
  }
  all_or_none(comm_, [&] {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (found[i] >= 0 && found[i] < comm_.num_ranks()) continue;
      const std::string who = found[i] == no_rank
                                  ? "no rank owns"
                                  : "by the owner rule belongs to rank " + std::to_string(found[i]) +
                                        ", and there are " + std::to_string(comm_.num_ranks()) + " ranks";
      throw Error(ErrorCode::invalid_argument, rank_name(comm_.rank()) + " needs global index " +
                                                   std::to_string(indices[i]) + ", which " + who);
    }
  });
  return found;
}

Ownership Ownership::ranges(std::vector<GlobalIndex> begins) {
  Ownership ownership(Kind::ranges);
  ownership.begins_ = std::move(begins);
  return ownership;
}

Ownership Ownership::array(std::vector<Rank> owners) {
  Ownership ownership(Kind::array);
  ownership.owners_ = std::move(owners);
  return ownership;
}

Ownership Ownership::function(std::vector<GlobalIndex> owned, std::function<Rank(GlobalIndex)> owner) {
  Ownership ownership(Kind::function, std::move(owned));
  ownership.owner_ = std::move(owner);
  return ownership;
}

Ownership Ownership::list(std::vector<GlobalIndex> owned) { return Ownership(Kind::list, std::move(owned)); }

}  // namespace nuice::mpi
