// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/mpi/exchanger.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exchange/exec/exchange_state.hpp"
#include "exchange/plan/bind_devices.hpp"
#include "exchange/plan/options.hpp"
#include "exchange/planless/planless.hpp"
#include "flow/process.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/failure.hpp"
#include "mpi/host/host_ranks.hpp"
#include "mpi/share.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/hosts.hpp"

namespace nuice::mpi {
namespace {

Segment segment_of(const void* data, std::int64_t count, MPI_Datatype type) {
  return {static_cast<std::byte*>(const_cast<void*>(data)), count, type};
}

/// hosts: as PlanOptions has it, but for "auto".
std::vector<Rank> ranks_of_host_in(const std::string& hosts, const Communicator& comm) {
  if (hosts.empty()) return {comm.rank()};
  return parse_hosts(hosts, comm.num_ranks()).ranks_beside(comm.rank());
}

DeviceParts staged_parts(DeviceSides sides, std::size_t sends, std::size_t partners) {
  DeviceParts parts;
  parts.at = sides.at();
  parts.chunk_bytes = DeviceOptions().chunk_bytes;
  parts.says = "staged: through pinned memory; an exchange without a plan always is";
  parts.drains_self.assign(partners, 0);
  const std::vector<std::size_t> order(std::max(sends, partners), 0);
  const std::vector<char> none(order.size(), 0);
  const device::Current current(parts.at);
  const auto mirror = [&](DeviceItems& items, const device::Location& at) {
    if (!at.is_on_device() || items.empty()) return Mirror();
    return Mirror(at, std::move(items), order, false, parts.chunk_bytes, none);
  };
  parts.sends = mirror(sides.send, sides.send_at);
  parts.receives = mirror(sides.receive, sides.receive_at);
  return parts;
}

}  // namespace

struct Exchanger::State {
  std::shared_ptr<const Communicator> comm;
  std::shared_ptr<PlanlessEngine> engine;
  double watchdog_s = 0;

  void check(Rank partner, std::int64_t count, const char* what) const {
    if (partner >= 0 && partner < comm->num_ranks() && count >= 0) return;
    throw Error(ErrorCode::invalid_argument, std::string(what) + " rank " + std::to_string(partner) + " of " +
                                                 std::to_string(comm->num_ranks()) + ", " +
                                                 std::to_string(count) + " elements");
  }

  DeviceSides sides_of(std::span<const Outgoing> sends, std::span<const Incoming> receives,
                       const Arrivals& arrivals) const {
    DeviceSides sides;
    if (!device::any_driver()) return sides;
    sides.send = items_of(sends);
    sides.receive = items_of(receives);
    for (DeviceItem& item : sides.receive) {  // several may be of one partner
      item.field = item.partner;
      item.partner = arrivals.index_of(receives[item.field].from);
    }
    sides.locate(comm->rank());
    return sides;
  }

  /// Of messages where they lie, or in a mirror with items of sides_of().
  std::unique_ptr<PlanlessRun> run_of(Arrivals& arrivals, std::span<const Outgoing> sends,
                                      std::span<const Incoming> receives, const Mirror& from,
                                      const Mirror& into) const {
    auto run = std::make_unique<PlanlessRun>(comm, engine, arrivals);
    const auto place_of = [](const auto& message, std::optional<Bytes> begin, const Mirror& mirror) {
      const auto& [partner, data, count, type] = message;
      if (!begin) return std::array{segment_of(data, count, type)};
      return std::array{Segment{mirror.data() + *begin, count * size_of(type), MPI_BYTE}};
    };
    for (std::size_t i = 0; i < sends.size(); ++i)
      run->add_send(sends[i].to, place_of(sends[i], from.find(0, i), from));
    for (std::size_t i = 0; i < receives.size(); ++i)
      run->add_receive(receives[i].from,
                       place_of(receives[i], into.find(i, arrivals.index_of(receives[i].from)), into));
    return run;
  }
};

Exchanger::Exchanger(MPI_Comm comm, const ExchangerOptions& options) : state_(std::make_unique<State>()) {
  check_parent(comm);
  ExchangerOptions all = options;
  state_->comm = duplicate(comm, options.watchdog_s);
  const Communicator& own = *state_->comm;
  share_from_rank_0(own, all.credit, all.planless, all.hosts, all.watchdog_s);
  all_or_none(own, [&] {
    check_options(PlanOptions{.watchdog_s = all.watchdog_s, .credit = all.credit, .planless = all.planless});
  });
  state_->watchdog_s = all.watchdog_s;
  std::vector<Rank> near;
  if (all.hosts == auto_name) near = ranks_of_this_host(own);
  all_or_none(own, [&] {
    if (all.hosts != auto_name) near = ranks_of_host_in(all.hosts, own);
    if (static_cast<int>(near.size()) < own.num_ranks()) flow::govern_process();
    const double share = 1.0 / static_cast<double>(near.size());
    const Bytes unasked = all.planless.unasked_bytes;
    // Two tags a message of a pair, and none of those that roll calls have (wait.cpp).
    const PlanlessChannel channel = {own.get(), own.rank(), own.num_ranks(), 0,
                                     (last_exchange_tag() - 1) / 2};
    state_->engine = std::make_shared<PlanlessEngine>(
        channel,
        PlanlessSettings{.unasked_bytes = unasked > 0 ? unasked : default_unasked_bytes(own.num_ranks() - 1),
                         .window_senders = all.credit.window_senders,
                         .window = {.window_bytes = all.credit.window_bytes,
                                    .chunk_bytes = all.credit.chunk_bytes,
                                    .share = share,
                                    .adapts = all.credit.adapt},
                         .send_share = share,
                         .near = std::move(near)});
  });
}

Exchanger::Exchanger(Exchanger&&) noexcept = default;
Exchanger& Exchanger::operator=(Exchanger&&) noexcept = default;
Exchanger::~Exchanger() = default;

Exchange Exchanger::bind(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
  if (!state_) throw Error(ErrorCode::state, "the exchanger was moved away");
  require_running("Exchanger::bind()");
  for (const Outgoing& each : sends) state_->check(each.to, each.count, "a message to");
  for (const Incoming& each : receives) state_->check(each.from, each.count, "a message from");
  auto exchange = std::make_unique<Exchange::State>();
  exchange->comm = state_->comm;
  exchange->watchdog_s = state_->watchdog_s;
  exchange->watches_deaths = tells_of_deaths();
  exchange->info.executor = "planless";

  std::map<Rank, Bytes> sources;
  for (const auto& [from, data, count, type] : receives)
    if (const Bytes bytes = count * size_of(type); bytes > 0) sources[from] += bytes;
  std::vector<Partner> partners;
  for (const auto& [rank, bytes] : sources) partners.push_back({rank, bytes});
  exchange->arrivals.set_sources(partners, std::vector<std::span<std::byte>>(partners.size()));

  DeviceSides sides = state_->sides_of(sends, receives, exchange->arrivals);
  if (!sides.at().is_on_device()) {
    exchange->run = state_->run_of(exchange->arrivals, sends, receives, {}, {});
    return Exchange(std::move(exchange));
  }
  // Always staged: what there is to try is found by plans alone, whose exchanges come again and again on all ranks.
  auto inner = std::make_unique<Exchange::State>();
  inner->comm = exchange->comm;
  inner->info = exchange->info;
  inner->arrivals.set_sources(partners, std::vector<std::span<std::byte>>(partners.size()));
  auto staged = std::make_unique<DeviceRun>(staged_parts(std::move(sides), sends.size(), partners.size()),
                                            partners, no_rank, exchange->arrivals, exchange->streams);
  inner->run = state_->run_of(inner->arrivals, sends, receives, staged->sends(), staged->receives());
  staged->carry_out_by(std::move(inner));
  staged->describe(exchange->info);
  exchange->run = std::move(staged);
  return Exchange(std::move(exchange));
}

void Exchanger::exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
  Exchange once = bind(sends, receives);
  once.start();
  once.wait();
}

}  // namespace nuice::mpi
