// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/mpi/exchanger.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exchange/exec/exchange_state.hpp"
#include "exchange/plan/options.hpp"
#include "exchange/planless/planless.hpp"
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

  auto run = std::make_unique<PlanlessRun>(state_->comm, state_->engine, exchange->arrivals);
  for (const auto& [to, data, count, type] : sends)
    run->add_send(to, std::array{segment_of(data, count, type)});
  for (const auto& [from, data, count, type] : receives)
    run->add_receive(from, std::array{segment_of(data, count, type)});
  exchange->run = std::move(run);
  return Exchange(std::move(exchange));
}

void Exchanger::exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
  Exchange once = bind(sends, receives);
  once.start();
  once.wait();
}

}  // namespace nuice::mpi
