// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/mpi/exchanger.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exchange/bind/messages.hpp"
#include "exchange/exec/direct_run.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "exchange/plan/bind_devices.hpp"
#include "exchange/plan/options.hpp"
#include "flow/process.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/failure.hpp"
#include "mpi/share.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

Segment segment_of(const void* data, std::int64_t count, MPI_Datatype type) {
  return {static_cast<std::byte*>(const_cast<void*>(data)), count, type};
}

}  // namespace

struct Exchanger::State {
  std::shared_ptr<const Communicator> comm;
  std::shared_ptr<bool> is_broken = std::make_shared<bool>(false);
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
    sides.send = items_of(places_of(sends));
    sides.receive = items_of(places_of(receives));
    for (DeviceItem& item : sides.receive) {  // one partner may have several messages
      item.field = item.partner;
      item.partner = arrivals.index_of(receives[item.field].from);
    }
    sides.locate(comm->rank());
    return sides;
  }

  /// Returns the Run that sends and receives the messages. If the mirror `from` (sends) or `into` (receives)
  /// has a copy of a message, the Run uses this copy, otherwise the user's memory.
  std::unique_ptr<Run> run_of(Arrivals& arrivals, std::span<const Outgoing> sends,
                              std::span<const Incoming> receives, const Mirror& from,
                              const Mirror& into) const {
    const auto place_of = [](const auto& message, std::optional<Bytes> begin, const Mirror& mirror) {
      const auto& [partner, data, count, type] = message;
      if (!begin) return DirectMessage{partner, segment_of(data, count, type)};
      return DirectMessage{partner, {mirror.data() + *begin, count * size_of(type), MPI_BYTE}};
    };
    std::vector<DirectMessage> out;
    std::vector<DirectMessage> in;
    for (std::size_t i = 0; i < sends.size(); ++i) out.push_back(place_of(sends[i], from.find(0, i), from));
    for (std::size_t i = 0; i < receives.size(); ++i)
      in.push_back(place_of(receives[i], into.find(i, arrivals.index_of(receives[i].from)), into));
    return std::make_unique<DirectRun>(comm, is_broken, std::move(out), std::move(in), &arrivals);
  }
};

Exchanger::Exchanger(MPI_Comm comm, const ExchangerOptions& options) : state_(std::make_unique<State>()) {
  check_parent(comm);
  ExchangerOptions all = options;
  state_->comm = duplicate(comm, options.watchdog_s);
  const Communicator& own = *state_->comm;
  share_from_rank_0(own, all.watchdog_s);
  all_or_none(own, [&] { check_options(PlanOptions{.watchdog_s = all.watchdog_s}); });
  state_->watchdog_s = all.watchdog_s;
  flow::govern_process();
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
  exchange->info.executor = "async";

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
  // Exchanges of an Exchanger always use way `staged`. Only plans try `direct`, because all ranks repeat a
  // plan's exchange.
  auto inner = std::make_unique<Exchange::State>();
  inner->comm = exchange->comm;
  inner->info = exchange->info;
  inner->arrivals.set_sources(partners, std::vector<std::span<std::byte>>(partners.size()));
  for (const Outgoing& each : sends) sides.send_to.push_back({each.to, each.count * size_of(each.type)});
  sides.receive_from = partners;
  PhaseTable no_order;
  no_order.rank = no_rank;  // a message to itself is treated like any other
  auto staged = std::make_unique<DeviceRun>(
      device_parts(std::move(sides), no_order, {}, false, DeviceOptions().chunk_bytes,
                   "an exchange without a plan always is"),
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
