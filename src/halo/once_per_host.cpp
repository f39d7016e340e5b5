// SPDX-License-Identifier: BSD-3-Clause
#include "halo/once_per_host.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <type_traits>

#include "exchange/plan/options.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/host/host_ranks.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/hosts.hpp"

namespace nuice::mpi {
namespace {

constexpr int index_bits = 32;

/// Entry number `place` of the entries that `carrier` carries has an index in the halo of carriers. Returns
/// this index.
GlobalIndex carrier_index(Rank carrier, std::size_t place) {
  return (GlobalIndex{carrier} << index_bits) | static_cast<GlobalIndex>(place);
}
Rank carrier_of(GlobalIndex index) { return static_cast<Rank>(index >> index_bits); }

/// Returns the ranks of this rank's host; only this rank if the options do not allow sharing.
std::vector<Rank> host_ranks(const Communicator& comm, const PlanOptions& options) {
  std::vector<Rank> ranks = {comm.rank()};
  const bool no_hosts = options.hosts.empty() || options.hosts == "1" || !options.topology.empty();
  if (!options.once_per_host || options.combine || no_hosts) return ranks;
  if (options.hosts == auto_name) return ranks_of_this_host(comm);
  all_or_none(comm, [&] { ranks = parse_hosts(options.hosts, comm.num_ranks()).ranks_beside(comm.rank()); });
  return ranks;
}

/// Returns the ghosts that are owned on other hosts, ascending.
std::vector<GlobalIndex> from_elsewhere(const Pattern& pattern, std::span<const Rank> host) {
  std::vector<GlobalIndex> indices;
  std::size_t ghost = 0;
  for (std::size_t p = 0; p < pattern.owners.num_partners(); ++p) {
    const bool is_near = std::ranges::binary_search(host, pattern.owners.ranks[p]);
    for (std::size_t i = 0; i < pattern.owners.size(p); ++i, ++ghost)
      if (!is_near) indices.push_back(pattern.ghosts[ghost]);
  }
  std::ranges::sort(indices);
  return indices;
}

std::vector<GlobalIndex> indices_in(const std::vector<std::byte>& bytes) {
  std::vector<GlobalIndex> indices(bytes.size() / sizeof(GlobalIndex));
  if (!bytes.empty()) std::memcpy(indices.data(), bytes.data(), bytes.size());
  return indices;
}

Crossing crossing_of(const Communicator& comm, std::span<const Rank> host,
                     std::span<const std::vector<std::byte>> all) {
  std::vector<GlobalIndex> together;
  if (host.front() == comm.rank())  // the first rank counts for its host
    for (const auto& bytes : all) std::ranges::copy(indices_in(bytes), std::back_inserter(together));
  std::int64_t counts[] = {static_cast<std::int64_t>(together.size()), 0};
  std::ranges::sort(together);
  counts[1] = std::ranges::unique(together).begin() - together.begin();
  all_reduce(comm, MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM);
  return {counts[0], counts[1]};
}

PlanOptions inside_options(const PlanOptions& options) {
  PlanOptions inside;
  inside.scheduler = "ac";
  inside.executor = "async";
  inside.hosts = options.hosts;
  inside.shared_memory = true;
  inside.watchdog_s = options.watchdog_s;
  inside.environment = false;
  inside.once_per_host = false;
  return inside;
}

/// Returns, for each position in `wanted`, its position in `all`.
std::vector<std::size_t> places_in(std::span<const GlobalIndex> all, std::span<const GlobalIndex> wanted) {
  std::map<GlobalIndex, std::size_t> place;
  for (std::size_t at = 0; at < all.size(); ++at) place[all[at]] = at;
  std::vector<std::size_t> places;
  for (const GlobalIndex index : wanted) places.push_back(place.at(index));
  return places;
}

}  // namespace

/// Chooses carriers, the same on every rank of the host. The carrier of an index is the rank that carries the
/// fewest entries so far, among the ranks that need the index.
OncePerHost::Lists OncePerHost::lists_of(const Communicator& comm, const Pattern& pattern,
                                         std::span<const Rank> host,
                                         std::span<const std::vector<std::byte>> all) {
  std::map<GlobalIndex, std::vector<std::size_t>> needers;
  for (std::size_t r = 0; r < host.size(); ++r)
    for (const GlobalIndex index : indices_in(all[r])) needers[index].push_back(r);
  std::vector<std::size_t> carried(host.size(), 0);
  Lists lists;
  for (const auto& [index, ranks] : needers) {
    if (ranks.size() < 2) continue;
    const std::size_t carrier =
        *std::ranges::min_element(ranks, {}, [&](std::size_t r) { return carried[r]; });
    const std::size_t place = carried[carrier]++;
    if (host[carrier] == comm.rank()) lists.carried.push_back(index);
    const bool is_needed = std::ranges::any_of(ranks, [&](std::size_t r) { return host[r] == comm.rank(); });
    if (!is_needed || host[carrier] == comm.rank()) continue;
    lists.inside.push_back(carrier_index(host[carrier], place));
    lists.inside_ghosts.push_back(index);
  }
  for (const GlobalIndex index : pattern.ghosts)
    if (!std::ranges::binary_search(lists.inside_ghosts, index)) lists.network.push_back(index);
  return lists;
}

std::unique_ptr<OncePerHost> OncePerHost::of(const Communicator& comm, const Pattern& pattern,
                                             const PlanOptions& given, Bytes entry_bytes) {
  const PlanOptions options = with_environment(comm, given).options;
  const std::vector<Rank> host = host_ranks(comm, options);
  auto most = static_cast<std::int32_t>(host.size());
  all_reduce(comm, MPI_IN_PLACE, &most, 1, MPI_INT32_T, MPI_MAX);
  if (most == 1) return nullptr;
  std::vector<GlobalIndex> mine;
  all_or_none(comm, [&] { mine = from_elsewhere(pattern, host); });
  const auto all = gather_on_host(comm, host, std::as_bytes(std::span(mine)));
  const Crossing crossing = crossing_of(comm, host, all);
  if (!crossing.pays()) return nullptr;
  Lists lists;
  all_or_none(comm, [&] { lists = lists_of(comm, pattern, host, all); });
  return std::unique_ptr<OncePerHost>(new OncePerHost(comm, pattern, options, entry_bytes, lists, crossing));
}

OncePerHost::OncePerHost(const Communicator& comm, const Pattern& pattern, const PlanOptions& options,
                         Bytes entry_bytes, const Lists& lists, const Crossing& crossing)
    : crossing_(crossing) {
  std::vector<GlobalIndex> owned(static_cast<std::size_t>(pattern.num_owned));
  std::iota(owned.begin(), owned.end(), pattern.first_owned.value_or(0));
  for (const Pattern::Place& place : pattern.places)
    if (place.local < pattern.num_owned) owned[static_cast<std::size_t>(place.local)] = place.index;
  const auto owner = [&](GlobalIndex index) -> Rank {
    const LocalIndex local = pattern.find(index);
    if (local < pattern.num_owned) return comm.rank();
    const auto& begin = pattern.owners.begin;
    const auto behind = std::ranges::upper_bound(begin, static_cast<std::size_t>(local - pattern.num_owned));
    return pattern.owners.ranks[static_cast<std::size_t>(behind - begin.begin()) - 1];
  };
  PlanOptions network = options;
  network.once_per_host = false;
  network.environment = false;  // the options already include the environment's
  network_.emplace(comm.get(), Ownership::function(owned, owner), lists.network, network, entry_bytes);
  std::vector<GlobalIndex> numbers;
  for (std::size_t place = 0; place < lists.carried.size(); ++place)
    numbers.push_back(carrier_index(comm.rank(), place));
  inside_.emplace(comm.get(), Ownership::function(numbers, carrier_of), lists.inside, inside_options(options),
                  entry_bytes);
  all_or_none(comm, [&] {
    of_network_ = places_in(pattern.ghosts, network_->ghosts());
    carried_ = places_in(network_->ghosts(), lists.carried);
    std::map<GlobalIndex, GlobalIndex> entry_of;
    for (std::size_t i = 0; i < lists.inside.size(); ++i) entry_of[lists.inside[i]] = lists.inside_ghosts[i];
    std::vector<GlobalIndex> entries;
    for (const GlobalIndex index : inside_->ghosts()) entries.push_back(entry_of.at(index));
    of_inside_ = places_in(pattern.ghosts, entries);
  });
}

template <typename Field>
std::unique_ptr<OncePerHost::Bound> OncePerHost::bind(std::span<const Field> fields) {
  constexpr bool is_scatter = std::is_same_v<Field, ScatterField>;
  auto bound = std::make_unique<Bound>();
  std::vector<Field> network(fields.begin(), fields.end());
  std::vector<Field> inside(fields.begin(), fields.end());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto bytes = static_cast<std::size_t>(fields[f].entry_bytes);
    const auto room = [&](std::size_t entries) {
      return bound->memory.emplace_back(std::max<std::size_t>(1, entries * bytes)).data();
    };
    std::byte* const from_network = room(of_network_.size());
    std::byte* const from_inside = room(of_inside_.size());
    std::byte* const carried = room(carried_.size());
    network[f].ghosts = from_network;
    network[f].ghost_bytes = of_network_.size() * bytes;
    inside[f].ghosts = from_inside;
    inside[f].ghost_bytes = of_inside_.size() * bytes;
    inside[f].owned = carried;
    inside[f].owned_bytes = carried_.size() * bytes;
    inside[f].wire = Wire::as_is;
    if constexpr (is_scatter) {
      bound->before.push_back({from_network, fields[f].ghosts, bytes, &of_network_, false});
      bound->before.push_back({from_inside, fields[f].ghosts, bytes, &of_inside_, false});
      bound->before.push_back({carried, from_network, bytes, &carried_, false});
      bound->between.push_back({from_network, carried, bytes, &carried_, true});
    } else {
      bound->between.push_back({fields[f].ghosts, from_network, bytes, &of_network_, true});
      bound->between.push_back({carried, from_network, bytes, &carried_, false});
      bound->after.push_back({fields[f].ghosts, from_inside, bytes, &of_inside_, true});
    }
  }
  if constexpr (is_scatter) {
    bound->first.emplace(inside_->bind_scatter(inside));
    bound->second.emplace(network_->bind_scatter(network));
  } else {
    bound->first.emplace(network_->bind_gather(network));
    bound->second.emplace(inside_->bind_gather(inside));
  }
  return bound;
}

template std::unique_ptr<OncePerHost::Bound> OncePerHost::bind(std::span<const GatherField> fields);
template std::unique_ptr<OncePerHost::Bound> OncePerHost::bind(std::span<const ScatterField> fields);

void EntryCopy::run() const {
  for (std::size_t i = 0; i < places->size(); ++i) {
    const std::size_t place = (*places)[i] * entry_bytes;
    std::memcpy(to + (to_places ? place : i * entry_bytes), from + (to_places ? i * entry_bytes : place),
                entry_bytes);
  }
}

void OncePerHost::Bound::start() {
  for (const EntryCopy& copy : before) copy.run();
  first->start();
  state = State::in_first;
}

OncePerHost::Bound::~Bound() {
  if (state == State::idle) return;
  try {
    wait();
  } catch (const Error&) {  // no caller is left to report it to
  }
}

void OncePerHost::Bound::free() {
  if (state != State::idle)
    throw Error(ErrorCode::state, "free() while the halo exchange is active: call wait() first");
  first->free();
  second->free();
}

void OncePerHost::Bound::begin_second() {
  for (const EntryCopy& copy : between) copy.run();
  state = State::in_second;
  second->start();
}

void OncePerHost::Bound::end() {
  state = State::idle;
  for (const EntryCopy& copy : after) copy.run();
}

/// If the exchange is idle, first->test() throws an Error which says that the exchange was not started.
bool OncePerHost::Bound::test() {
  if (state != State::in_second) {
    if (!first->test()) return false;
    begin_second();
  }
  if (!second->test()) return false;
  end();
  return true;
}

void OncePerHost::Bound::wait() {
  if (state != State::in_second) {
    first->wait();
    begin_second();
  }
  second->wait();
  end();
}

}  // namespace nuice::mpi
