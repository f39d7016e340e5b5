// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/combine/combine.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/text/names.hpp"
#include "exchange/bind/whole_messages.hpp"
#include "exchange/combine/window.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/discover/raw_values.hpp"
#include "mpi/host/host_ranks.hpp"

namespace nuice::mpi {
namespace {

using exchange::HostLayout;
using exchange::HostMessage;

/// Returns the messages that this rank reports: those that it sends, and those that it receives from other
/// hosts. So each message is reported by one rank of a host.
std::vector<HostMessage> told_by(const WholeMessages& small, const Hosts& hosts, Rank rank) {
  std::vector<HostMessage> messages;
  for (const auto& [dst, bytes] : small.sends) messages.push_back({rank, dst, bytes});
  for (const auto& [src, bytes] : small.receives)
    if (!hosts.same(src, rank)) messages.push_back({src, rank, bytes});
  return messages;
}

std::vector<HostMessage> messages_of(const std::vector<std::vector<std::byte>>& of_ranks) {
  std::vector<HostMessage> messages;
  for (const std::vector<std::byte>& bytes : of_ranks)
    for (const HostMessage& message : values_in<HostMessage>(bytes)) messages.push_back(message);
  return messages;
}

std::size_t memory_for(const HostGroup& group, const HostLayout& layout) {
  return Window::bytes_for(group.ranks().size(), layout.outgoing().size(), layout.incoming().size(),
                           static_cast<std::size_t>(layout.bytes()));
}

/// Collective. Describes what is combined.
std::string summary(const Communicator& comm, const HostGroup& group, const HostLayout& layout) {
  std::array<std::int64_t, 2> sums = {
      0, comm.rank() == group.ranks().front() ? std::ssize(layout.outgoing()) : 0};
  for (const HostLayout::Place& place : layout.sends())
    if (place.block != no_index) ++sums[0];
  all_reduce(comm, MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM);
  const bool by_all = group.leaders() >= comm.num_ranks();
  return std::to_string(sums[0]) + " messages between hosts are " + std::to_string(sums[1]) + ", which " +
         (by_all                 ? "all ranks"
          : group.leaders() == 1 ? "one rank"
                                 : std::to_string(group.leaders()) + " ranks") +
         " of a host send and receive";
}

}  // namespace

Decoration combine(const std::shared_ptr<const Communicator>& comm, int tag, const Combining& combining,
                   const PhaseTable& table, const Layout& layout) {
  const HostGroup& group = *combining.group;
  WholeMessages small;
  std::vector<HostMessage> mine;
  all_or_none(*comm, [&] {
    const auto is_small = [&](Rank, Bytes bytes) { return bytes <= combining.largest_bytes; };
    small = WholeMessages::of(table, layout, is_small);
    mine = told_by(small, group.hosts(), comm->rank());
  });
  const auto gathered = gather_on_host(*comm, group.ranks(), std::as_bytes(std::span(mine)));
  std::optional<HostLayout> places;
  Decoration combined;
  all_or_none(*comm, [&] {
    places.emplace(group.hosts(), comm->rank(), messages_of(gathered));
    combined.rest = small.rest_of(table);
  });
  std::array<int, 2> any = {small.are_all ? 0 : 1, mine.empty() ? 0 : 1};
  all_reduce(*comm, MPI_IN_PLACE, any.data(), 2, MPI_INT, MPI_MAX);
  combined.has_rest = any[0] != 0;
  if (any[1] == 0) {
    combined.says = "nothing is combined: no message is short enough";
    return combined;
  }
  SharedSegment memory(*comm, group.ranks(), memory_for(group, *places));
  int missing = memory.data() == nullptr ? comm->num_ranks() - comm->rank() : 0;
  all_reduce(*comm, MPI_IN_PLACE, &missing, 1, MPI_INT, MPI_MAX);
  if (missing > 0) {
    combined.says = "nothing is combined: the ranks of the host of " +
                    rank_name(comm->num_ranks() - missing) + " cannot share memory";
    return combined;
  }
  combined.says = summary(*comm, group, *places);
  auto parts = std::make_unique<CombinedParts>(std::move(*places));
  parts->group = combining.group;
  parts->comm = comm;
  parts->tag = tag;
  parts->chunk_bytes = combining.chunk_bytes;
  parts->elements = std::move(small.elements);
  parts->memory = std::move(memory);
  combined.decorator = std::move(parts);
  return combined;
}

}  // namespace nuice::mpi
