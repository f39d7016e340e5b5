// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts: agree on the options, let every rank make and check the same steps, keep this rank's slice.
// Bound, it is an exchange whose first step is the receive and whose other steps are one send each, or one with all
// sends (executors that send all at once).
//
// Cost: three broadcasts of options, O(ranks) planning. Why no rank waits forever: the receive is posted
// first, and a rank that sends in step s has received in an earlier one.
#include <algorithm>
#include <array>
#include <cstdint>

#include "core/text/names.hpp"
#include "device/driver.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "exchange/exec/steps.hpp"
#include "exchange/plan/options.hpp"
#include "exchange/plan/plan_group.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/mpi/broadcast.hpp"
#include "nuice/plan/broadcaster.hpp"

namespace nuice::mpi {

struct BroadcastPlan::State {
  std::shared_ptr<TagSpace> tags;            // perhaps shared with other plans
  std::shared_ptr<const Communicator> comm;  // theirs; shared with the exchanges, which may outlive the plan
  Membership member;
  BroadcastTable table;
  BroadcastInfo info;

  /// What BroadcastPlan() and bind() do.
  void plan_for(MPI_Comm parent, const BroadcastOptions& options);
  Exchange bind(void* buffer, Bytes room);
  TableRequests make_requests(void* buffer) const;
};

namespace {

/// All options by name. The group as a text, "0 3 5".
NamedValues values_of(const BroadcastOptions& options) {
  std::vector<Rank> group = options.group.value_or(std::vector<Rank>{});
  std::ranges::sort(group);
  std::string members = options.group ? "" : "not given";
  for (const Rank rank : group) members += (members.empty() ? "" : " ") + std::to_string(rank);
  return {{"root", std::to_string(options.root)},
          {"bytes", std::to_string(options.bytes)},
          {"broadcaster", options.broadcaster},
          {"executor", options.executor},
          {"group", members}};
}

void check_options(const BroadcastOptions& options) {
  if (options.bytes < 0)
    throw Error(ErrorCode::invalid_argument,
                "BroadcastOptions::bytes is negative: " + std::to_string(options.bytes));
  if (options.bytes > max_bytes)
    throw Error(ErrorCode::limit, "BroadcastOptions::bytes is " + std::to_string(options.bytes) +
                                      ", more than max_bytes = " + std::to_string(max_bytes));
  const Pace pace = find_executor(options.executor).pace;
  if (pace != Pace::phases && pace != Pace::at_once)
    throw Error(ErrorCode::invalid_argument, "a broadcast takes the executor " +
                                                 std::string(default_executor) +
                                                 ", or one that sends all at once, not " + options.executor);
}

/// A fault is a bug in the algorithm. It is still an Error, so that no rank runs a wrong broadcast.
BroadcastSchedule make_checked(Rank num_ranks, const BroadcastOptions& options) {
  std::vector<Rank> group = options.group.value_or(std::vector<Rank>{});
  std::ranges::sort(group);
  if (std::ssize(group) > num_ranks)
    throw Error(ErrorCode::invalid_argument, "the group has " + std::to_string(group.size()) +
                                                 " members, there are " + std::to_string(num_ranks) +
                                                 " ranks");
  if (!options.group)
    for (Rank rank = 0; rank < num_ranks; ++rank) group.push_back(rank);
  BroadcastSchedule schedule = make_broadcast(options.broadcaster, num_ranks, options.root, group);
  if (const auto fault = check_broadcast(schedule, group))
    throw Error(ErrorCode::mismatch, "broadcaster " + options.broadcaster + " made wrong steps: " + *fault);
  return schedule;
}

Rank num_members(const BroadcastSchedule& schedule) {
  std::size_t members = 1;
  for (const auto& step : schedule.steps) members += step.size();
  return static_cast<Rank>(members);
}

std::vector<RequestCount> make_steps(const BroadcastTable& table, bool all_at_once) {
  std::vector<RequestCount> ends;
  const std::size_t receives = table.receive ? 1 : 0;
  if (receives > 0) ends.push_back({receives, 0});
  for (std::size_t sends = 1; sends <= table.sends.size(); ++sends)
    if (!all_at_once || sends == table.sends.size()) ends.push_back({receives, sends});
  return ends;
}

void check_buffer(const BroadcastTable& table, const void* buffer, Bytes room, Bytes bytes) {
  if (!table.takes_part() || bytes == 0) return;
  const std::string who = "rank " + std::to_string(table.rank) + ": the buffer of the broadcast ";
  if (buffer == nullptr) throw Error(ErrorCode::invalid_argument, who + "is null");
  if (room < bytes)
    throw Error(ErrorCode::invalid_argument,
                who + "has " + std::to_string(room) + " bytes, the message has " + std::to_string(bytes));
}

}  // namespace

void BroadcastPlan::State::plan_for(MPI_Comm parent, const BroadcastOptions& options) {
  const double begin_s = MPI_Wtime();
  member = Membership::of(parent, comm, 0);
  member.group->share(tags);
  NamedValues values;
  all_or_none(*comm, [&] { values = values_of(options); });
  require_equal_values(*comm, values);
  all_or_none(*comm, [&] {
    check_options(options);
    const BroadcastSchedule schedule = make_checked(comm->num_ranks(), options);
    table = slice(schedule, comm->rank());
    info = {.broadcaster = options.broadcaster,
            .root = options.root,
            .bytes = options.bytes,
            .executor = options.executor,
            .num_members = num_members(schedule),
            .num_steps = table.num_steps};
  });
  double plan_s = MPI_Wtime() - begin_s;
  all_reduce(*comm, MPI_IN_PLACE, &plan_s, 1, MPI_DOUBLE, MPI_MAX);
  info.plan_s = plan_s;
}

BroadcastPlan::BroadcastPlan(MPI_Comm parent, const BroadcastOptions& options)
    : state_(std::make_unique<State>()) {
  state_->tags = PlanGroup::tags_for_plan(parent, 0);
  state_->comm = state_->tags->comm;
  naming_dead_ranks(*state_->comm, [&] { state_->plan_for(parent, options); });
}

Exchange BroadcastPlan::bind(void* buffer, Bytes room) {
  if (!state_) throw Error(ErrorCode::state, "the plan was freed, or moved away");
  require_running("bind()");
  state_->member.require_same({Form::broadcast});
  state_->comm = state_->tags->comm;  // another one where its tags ran out
  const auto kept = state_->comm;
  return naming_dead_ranks(*kept, [&] { return state_->bind(buffer, room); });
}

/// The receive, if there is one, and the sends of the steps.
TableRequests BroadcastPlan::State::make_requests(void* buffer) const {
  TableRequests made;
  const Segment all{static_cast<std::byte*>(buffer), info.bytes, MPI_BYTE};
  if (table.receive) {
    const Rank from = table.receive->partner;
    made.receives.add(Requests::Mode::receive, all, from, tags->next, comm->get());
    made.receive_from.push_back(from);
  }
  for (const BroadcastStep& send : table.sends) {
    made.sends.add(Requests::Mode::send, all, send.partner, tags->next, comm->get());
    made.send_to.push_back(send.partner);
  }
  return made;
}

Exchange BroadcastPlan::State::bind(void* buffer, Bytes room) {
  std::unique_ptr<Exchange::State> exchange;
  all_or_none(*comm, [&] {
    check_buffer(table, buffer, room, info.bytes);
    if (const device::Location at = device::locate(buffer); at.is_on_device())
      throw Error(ErrorCode::not_applicable, rank_name(comm->rank()) + ": the buffer lies on " + at.name() +
                                                 ", but broadcasts accept host memory only");
    exchange = std::make_unique<Exchange::State>();
    exchange->comm = comm;
    exchange->watches_deaths = tells_of_deaths();
    exchange->info.executor = info.executor;
    if (info.bytes == 0) return;  // an exchange without steps
    if (table.receive) {
      const Partner source{table.receive->partner, info.bytes};
      const std::span data(static_cast<std::byte*>(buffer), static_cast<std::size_t>(source.bytes));
      exchange->arrivals.set_sources({&source, 1}, {&data, 1});
      exchange->arrivals.add_receive(source.rank, {&source.rank, 1});
    }
    const bool all_at_once = find_executor(info.executor).pace == Pace::at_once;
    exchange->run =
        std::make_unique<Steps>(make_requests(buffer), make_steps(table, all_at_once), exchange->arrivals);
  });
  tags->take();
  return Exchange(std::move(exchange));
}

BroadcastPlan::BroadcastPlan(BroadcastPlan&&) noexcept = default;
BroadcastPlan& BroadcastPlan::operator=(BroadcastPlan&&) noexcept = default;
BroadcastPlan::~BroadcastPlan() = default;

BroadcastPlan::State& BroadcastPlan::state() const {
  if (!state_) throw Error(ErrorCode::state, "the plan was freed, or moved away");
  if (state_->member.plan_is_freed) throw Error(ErrorCode::state, "the plan was freed");
  return *state_;
}

const BroadcastTable& BroadcastPlan::table() const { return state().table; }
const BroadcastInfo& BroadcastPlan::info() const { return state().info; }

void BroadcastPlan::free() {
  if (!state_) return;
  State freed;
  freed.member = state_->member.of_freed();
  *state_ = std::move(freed);
}

}  // namespace nuice::mpi
