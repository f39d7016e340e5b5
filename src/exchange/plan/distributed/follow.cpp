// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/distributed/follow.hpp"

#include <algorithm>
#include <map>

#include "mpi/agree.hpp"
#include "mpi/collective.hpp"

namespace nuice::mpi {
namespace {

using distributed::Colour;

std::map<Rank, Bytes> by_partner(const Messages& messages) {
  std::map<Rank, Bytes> sizes;
  for (std::size_t i = 0; i < messages.size(); ++i) sizes.emplace(messages.partners[i], messages.bytes[i]);
  return sizes;
}

std::vector<Colour> colours_of(const Messages& now, std::span<const PhaseEntry> entries,
                               Rank PhaseEntry::* partner) {
  std::map<Rank, Colour> earlier;
  for (const PhaseEntry& entry : entries)
    if (entry.*partner != no_rank) earlier.emplace(entry.*partner, static_cast<Colour>(entry.phase));
  std::vector<Colour> colours;
  for (const Rank rank : now.partners) {
    const auto at = earlier.find(rank);
    colours.push_back(at == earlier.end() ? distributed::no_colour : at->second);
  }
  return colours;
}

std::vector<bool> and_same_size(std::vector<bool> kept, const Messages& now, const Messages& earlier) {
  const std::map<Rank, Bytes> before = by_partner(earlier);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto at = before.find(now.partners[i]);
    if (at == before.end() || at->second != now.bytes[i]) kept[i] = false;
  }
  return kept;
}

}  // namespace

Messages Followed::sources(const Communicator& comm, SparseExchange& sparse, const Messages& sends) const {
  SparseExchange::Box box;
  std::map<Rank, Bytes> changes = by_partner(sends);
  for (const auto& [partner, bytes] : by_partner(sends_)) {
    const auto [now, is_gone] = changes.try_emplace(partner, 0);
    if (!is_gone && now->second == bytes) changes.erase(now);
  }
  for (const auto& [partner, bytes] : changes) box.add(partner, bytes_of(std::span(&bytes, 1)));
  SparseExchange::Sums sums{};
  const SparseExchange::Box& inbox = sparse.run(std::move(box), sums, sizeof(Bytes));
  Messages receives;
  all_or_none(comm, [&] {
    std::map<Rank, Bytes> now = by_partner(receives_);
    for (const auto& item : inbox.items) now[item.partner] = values_in<Bytes>(inbox.of(item)).at(0);
    for (const auto& [partner, bytes] : now)
      if (bytes > 0) receives.add(partner, bytes);
    receives.require_fits(comm.rank(), "receive");
  });
  return receives;
}

EarlierColours Followed::colours(const Messages& sends, const Messages& receives) const {
  return {&palette_, colours_of(sends, table_.entries, &PhaseEntry::send_partner),
          colours_of(receives, table_.entries, &PhaseEntry::recv_partner)};
}

Unchanged Followed::unchanged(const Messages& sends, const Messages& receives, const LocalPlan& plan) const {
  return {and_same_size(plan.kept.sends, sends, sends_),
          and_same_size(plan.kept.receives, receives, receives_)};
}

MessageId Unchanged::count_sends(const Communicator& comm) const {
  std::int64_t count = std::ranges::count(sends, true);
  all_reduce(comm, MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM);
  return static_cast<MessageId>(count);
}

}  // namespace nuice::mpi
