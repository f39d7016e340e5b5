// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/combine/combine.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "core/text/names.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/host/host_ranks.hpp"

namespace nuice::mpi {
namespace {

using exchange::HostLayout;
using exchange::HostMessage;

/// The bytes that this rank sends to others, or receives from them, as they travel.
std::map<Rank, Bytes> sizes_of(const std::vector<TableElements::Elements>& elements) {
  std::map<Rank, Bytes> sizes;
  for (const auto& [partner, segment] : elements) sizes[partner] += segment.count * size_of(segment.type);
  return sizes;
}

/// One entry for each message as a whole, however often the users list its ranks.
PhaseTable whole_messages(const Way& way) {
  PhaseTable table;
  table.rank = way.table.rank;
  table.num_ranks = way.table.num_ranks;
  table.num_phases = 1;
  for (const auto& [rank, bytes] : way.table.destinations)
    if (rank != table.rank) table.entries.push_back({.send_partner = rank, .send_bytes = bytes});
  for (const auto& [rank, bytes] : way.table.sources)
    if (rank != table.rank) table.entries.push_back({.recv_partner = rank, .recv_bytes = bytes});
  return table;
}

class Sorter {
 public:
  Sorter(const Way& way, Bytes largest_bytes, TableElements& elements)
      : largest_bytes_(largest_bytes),
        sends_(sizes_of(elements.sends)),
        receives_(sizes_of(elements.receives)) {
    const auto is_large = [](const std::map<Rank, Bytes>& sizes, Bytes largest) {
      return
          [&sizes, largest](const TableElements::Elements& one) { return sizes.at(one.partner) > largest; };
    };
    has_rest_ = std::erase_if(elements.sends, is_large(sends_, largest_bytes)) > 0;
    std::erase_if(elements.receives, is_large(receives_, largest_bytes));
    rank_ = way.table.rank;
  }

  bool has_rest() const { return has_rest_; }

  /// Those that this rank sends, and those that it receives from other hosts: so each is told once on a host.
  std::vector<HostMessage> messages(const Hosts& hosts) const {
    std::vector<HostMessage> messages;
    for (const auto& [dst, bytes] : sends_)
      if (bytes <= largest_bytes_) messages.push_back({rank_, dst, bytes});
    for (const auto& [src, bytes] : receives_)
      if (bytes <= largest_bytes_ && !hosts.same(src, rank_)) messages.push_back({src, rank_, bytes});
    return messages;
  }

  PhaseTable rest_of(const PhaseTable& table) const {
    PhaseTable rest = table;
    rest.entries.clear();
    for (PhaseEntry entry : table.entries) {
      if (entry.send_partner != no_rank && is_combined(sends_, entry.send_partner)) {
        entry.send_partner = no_rank;
        entry.send_bytes = entry.send_offset = 0;
      }
      if (entry.recv_partner != no_rank && is_combined(receives_, entry.recv_partner)) {
        entry.recv_partner = no_rank;
        entry.recv_bytes = entry.recv_offset = 0;
      }
      if (entry.send_partner != no_rank || entry.recv_partner != no_rank) rest.entries.push_back(entry);
    }
    const auto is_gone = [this](const std::map<Rank, Bytes>& sizes) {
      return [this, &sizes](const Partner& partner) {
        return partner.rank != rank_ && is_combined(sizes, partner.rank);
      };
    };
    std::erase_if(rest.destinations, is_gone(sends_));
    std::erase_if(rest.sources, is_gone(receives_));
    return rest;
  }

 private:
  bool is_combined(const std::map<Rank, Bytes>& sizes, Rank partner) const {
    const auto found = sizes.find(partner);
    return found != sizes.end() && found->second <= largest_bytes_;
  }

  Rank rank_ = 0;
  Bytes largest_bytes_;
  std::map<Rank, Bytes> sends_;
  std::map<Rank, Bytes> receives_;
  bool has_rest_ = false;
};

std::vector<HostMessage> messages_of(const std::vector<std::vector<std::byte>>& of_ranks) {
  std::vector<HostMessage> messages;
  for (const std::vector<std::byte>& bytes : of_ranks) {
    const std::size_t begin = messages.size();
    messages.resize(begin + bytes.size() / sizeof(HostMessage));
    if (!bytes.empty()) std::memcpy(messages.data() + begin, bytes.data(), bytes.size());
  }
  return messages;
}

std::size_t memory_for(const HostGroup& group, const HostLayout& layout) {
  return Window::bytes_for(group.ranks().size(), layout.outgoing().size(), layout.incoming().size(),
                           static_cast<std::size_t>(layout.bytes()));
}

/// Collective.
std::string summary(const Communicator& comm, const HostGroup& group, const HostLayout& layout) {
  std::array<std::int64_t, 2> sums = {
      0, comm.rank() == group.ranks().front() ? std::ssize(layout.outgoing()) : 0};
  for (const HostLayout::Place& place : layout.sends())
    if (place.block != HostLayout::no_block) ++sums[0];
  all_reduce(comm, MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM);
  const bool by_all = group.leaders() >= comm.num_ranks();
  return std::to_string(sums[0]) + " messages between hosts are " + std::to_string(sums[1]) + ", which " +
         (by_all                 ? "all ranks"
          : group.leaders() == 1 ? "one rank"
                                 : std::to_string(group.leaders()) + " ranks") +
         " of a host send and receive";
}

}  // namespace

Combined combine(const std::shared_ptr<const Communicator>& comm, int tag, const Combining& combining,
                 const Way& way, const Layout& layout) {
  const HostGroup& group = *combining.group;
  TableElements elements;
  std::optional<Sorter> sorter;
  std::vector<HostMessage> mine;
  all_or_none(*comm, [&] {
    // No list of elements asks for arrivals or a window: what else a binding has does not matter.
    Arrivals none;
    const PhaseTable table = whole_messages(way);
    elements = list_elements({comm, table, layout, none, tag, {}});
    sorter.emplace(way, combining.largest_bytes, elements);
    mine = sorter->messages(group.hosts());
  });
  const auto gathered = gather_on_host(*comm, group.ranks(), std::as_bytes(std::span(mine)));
  std::optional<HostLayout> places;
  Combined combined;
  all_or_none(*comm, [&] {
    places.emplace(group.hosts(), comm->rank(), messages_of(gathered));
    combined.rest = sorter->rest_of(way.table);
  });
  const bool has_small = !mine.empty();
  std::array<int, 2> any = {sorter->has_rest() ? 1 : 0, has_small ? 1 : 0};
  all_reduce(*comm, MPI_IN_PLACE, any.data(), 2, MPI_INT, MPI_MAX);
  combined.has_rest = any[0] != 0;
  if (any[1] == 0) {
    combined.says = "nothing is combined: no message is so short";
    return combined;
  }
  SharedSegment memory(*comm, group.ranks(), memory_for(group, *places));
  int missing = memory.data() == nullptr ? comm->num_ranks() - comm->rank() : 0;
  all_reduce(*comm, MPI_IN_PLACE, &missing, 1, MPI_INT, MPI_MAX);
  if (missing > 0) {
    combined.says = "nothing is combined: the host of " + rank_name(comm->num_ranks() - missing) +
                    " has no memory that its ranks can share";
    return combined;
  }
  combined.says = summary(*comm, group, *places);
  combined.parts = CombinedParts{.group = combining.group,
                                 .comm = comm,
                                 .tag = tag,
                                 .window_bytes = combining.window_bytes,
                                 .elements = std::move(elements),
                                 .layout = std::move(*places),
                                 .memory = std::move(memory)};
  return combined;
}

}  // namespace nuice::mpi
